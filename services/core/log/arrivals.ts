/**
 * Waiting for new records: an append of this process wakes its followers at once, in every thread; appends of other processes
 * are found by polling. Each poll waits for a quarter of the silence so far: a topic just written is likely to be written again. A
 * topic that this process writes is polled rarely: another one rarely writes it too.
 */
const SHORTEST_POLL_MS = 1
const LONGEST_POLL_MS = 500

export type Arrivals = {
  announce(topic: string): void
  /** Resolves when `arrived` may be true, the signal aborts, or the log is closed. */
  wait(topic: string, signal: AbortSignal, arrived: () => boolean): Promise<void>
  /** Wakes all waiters; later waits resolve at once. */
  end(): void
}

export function createArrivals(): Arrivals {
  const waiting = new Map<string, Set<() => void>>()
  /** Topics whose newest records this process appended, as far as known. */
  const own = new Set<string>()
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
      own.add(topic)
      for (const wake of waiting.get(topic) ?? []) wake()
    },

    wait(topic, signal, arrived) {
      if (ended || signal.aborted) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const wakers = wakersOf(topic)
        const sinceMs = performance.now()
        let timer = setTimeout(poll, nextPollMs())
        function nextPollMs(): number {
          if (own.has(topic)) return LONGEST_POLL_MS
          return Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, (performance.now() - sinceMs) / 4))
        }
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
            if (arrived()) {
              own.delete(topic)
              return wake()
            }
          } catch (error) {
            stop()
            return reject(error)
          }
          timer = setTimeout(poll, nextPollMs())
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
