/**
 * Waiting for new records: an append in this process wakes its followers at once; appends of other processes are found
 * by polling, fast at first and then slower: a log just written is likely to be written again.
 */
const SHORTEST_POLL_MS = 1
const LONGEST_POLL_MS = 20

export type Arrivals = {
  announce(topic: string): void
  /** Resolves when `arrived` may be true, the signal aborts, or the log is closed. */
  wait(topic: string, signal: AbortSignal, arrived: () => boolean): Promise<void>
  /** Wakes all waiters; later waits resolve at once. */
  end(): void
}

export function createArrivals(): Arrivals {
  const waiting = new Map<string, Set<() => void>>()
  let ended = false

  function wakersOf(topic: string): Set<() => void> {
    const known = waiting.get(topic)
    if (known !== undefined) return known
    const created = new Set<() => void>()
    waiting.set(topic, created)
    return created
  }

  return {
    announce(topic) {
      for (const wake of waiting.get(topic) ?? []) wake()
    },

    wait(topic, signal, arrived) {
      if (ended || signal.aborted) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const wakers = wakersOf(topic)
        let pollMs = SHORTEST_POLL_MS
        let timer = setTimeout(poll, pollMs)
        function stop(): void {
          clearTimeout(timer)
          wakers.delete(wake)
          signal.removeEventListener('abort', wake)
        }
        function wake(): void {
          stop()
          resolve()
        }
        function poll(): void {
          try {
            if (arrived()) return wake()
          } catch (error) {
            stop()
            return reject(error)
          }
          pollMs = Math.min(pollMs * 2, LONGEST_POLL_MS)
          timer = setTimeout(poll, pollMs)
        }
        wakers.add(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    },

    end() {
      ended = true
      for (const wakers of waiting.values()) for (const wake of wakers) wake()
    },
  }
}
