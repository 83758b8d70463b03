/** How many requests are under way at once: urgent ones get the next free place. */

export interface Slots {
  enter(urgent: boolean, signal: AbortSignal): Promise<void>
  leave(): void
  readonly inFlight: number
}

export function createSlots(max: number): Slots {
  let inFlight = 0
  const urgentOnes: (() => void)[] = []
  const others: (() => void)[] = []
  return {
    enter(urgent, signal) {
      if (inFlight < max) {
        inFlight++
        return Promise.resolve()
      }
      return new Promise<void>((resolve, reject) => {
        const queue = urgent ? urgentOnes : others
        const stop = (): void => {
          const place = queue.indexOf(go)
          if (place >= 0) queue.splice(place, 1)
          reject(signal.reason)
        }
        // The place is handed over: the count stays.
        const go = (): void => {
          signal.removeEventListener('abort', stop)
          resolve()
        }
        if (signal.aborted) return reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        queue.push(go)
      })
    },
    leave() {
      const next = urgentOnes.shift() ?? others.shift()
      if (next === undefined) inFlight--
      else next()
    },
    get inFlight() {
      return inFlight
    },
  }
}
