/** Whether the broker is there, as the log's connections see it together: told once when it goes and once when it is back. */
export type Presence = {
  failing(wire: object, reason: string): void
  answering(wire: object): void
  /** It asks no more: nothing follows from that. */
  forget(wire: object): void
}

/** One lost connection is made anew at once and is no news. */
const FAILURES_BEFORE_NEWS = 2

export function createPresence(onAway: (reason: string) => void, onBack: () => void): Presence {
  const failures = new Map<object, number>()
  let isAway = false
  return {
    failing(wire, reason) {
      const count = (failures.get(wire) ?? 0) + 1
      failures.set(wire, count)
      if (isAway || count < FAILURES_BEFORE_NEWS) return
      isAway = true
      onAway(reason)
    },
    forget: (wire) => void failures.delete(wire),
    answering(wire) {
      failures.delete(wire)
      if (!isAway || failures.size > 0) return
      isAway = false
      onBack()
    },
  }
}
