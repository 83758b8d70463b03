/** How long no push arrived in each of some channels: what a client notices of a failure. */
export type Silences = {
  note(channel: string): void
  /** From now on. */
  reset(): void
  /** By channel, in milliseconds, the one that still lasts included. */
  longest(): Map<string, number>
}

export function watchSilences(channels: readonly string[]): Silences {
  const last = new Map<string, number>()
  const longest = new Map<string, number>()
  const noteAt = (channel: string, nowMs: number) => {
    longest.set(channel, Math.max(longest.get(channel) ?? 0, Math.round(nowMs - (last.get(channel) ?? nowMs))))
  }
  return {
    note(channel) {
      const nowMs = performance.now()
      noteAt(channel, nowMs)
      last.set(channel, nowMs)
    },
    reset() {
      for (const channel of channels) {
        last.set(channel, performance.now())
        longest.set(channel, 0)
      }
    },
    longest() {
      for (const channel of channels) noteAt(channel, performance.now())
      return new Map(channels.map((channel) => [channel, longest.get(channel) ?? 0]))
    },
  }
}
