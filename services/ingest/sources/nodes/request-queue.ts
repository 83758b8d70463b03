/** Decides when a request may be sent: limited per second and in parallel; urgent ones first, then in order. */

export interface Pace {
  /** Resolves when `count` requests may go. Rejects when the signal aborts. */
  take(count: number, urgent: boolean, signal: AbortSignal): Promise<void>
  /** Sends nothing before then. */
  pauseUntil(ms: number): void
  /** Remaining pause. */
  pausedMs(): number
  setPerS(perS: number): void
  readonly perS: number
}

/** Slightly more than a second: clocks and network delays differ. */
const WINDOW_MS = 1060

type Waiter = { count: number; go: () => void }

export function createPace(initialPerS: number, nowMs: () => number): Pace {
  let perS = initialPerS
  let pausedUntilMs = 0
  let inWindow = 0
  let timer: NodeJS.Timeout | undefined
  const sent: { atMs: number; count: number }[] = []
  const urgentOnes: Waiter[] = []
  const others: Waiter[] = []

  const capacity = () => Math.max(1, Math.floor(perS))
  const windowMs = () => (WINDOW_MS * capacity()) / perS

  /** 0: now. */
  function waitMs(count: number): number {
    const now = nowMs()
    if (now < pausedUntilMs) return pausedUntilMs - now
    if (perS === Number.POSITIVE_INFINITY) return 0
    const horizon = now - windowMs()
    for (let first = sent[0]; first !== undefined && first.atMs <= horizon; first = sent[0]) {
      inWindow -= first.count
      sent.shift()
    }
    // A batch larger than a second's allowance goes alone.
    if (inWindow === 0 || inWindow + count <= capacity()) return 0
    let free = capacity() - inWindow
    for (const { atMs, count: freed } of sent) {
      free += freed
      if (free >= count) return Math.max(1, atMs - horizon)
    }
    return Math.max(1, (sent.at(-1)?.atMs ?? now) - horizon)
  }

  function note(count: number): void {
    if (perS === Number.POSITIVE_INFINITY) return
    sent.push({ atMs: nowMs(), count })
    inWindow += count
  }

  function drain(): void {
    timer = undefined
    for (let next = urgentOnes[0] ?? others[0]; next !== undefined; next = urgentOnes[0] ?? others[0]) {
      const ms = waitMs(next.count)
      if (ms > 0) {
        timer = setTimeout(drain, ms)
        return
      }
      ;(urgentOnes.length > 0 ? urgentOnes : others).shift()
      note(next.count)
      next.go()
    }
  }

  return {
    take(count, urgent, signal) {
      if (urgentOnes.length === 0 && (urgent || others.length === 0) && waitMs(count) === 0) {
        note(count)
        return Promise.resolve()
      }
      return new Promise<void>((resolve, reject) => {
        const queue = urgent ? urgentOnes : others
        const stop = (): void => {
          const place = queue.indexOf(waiter)
          if (place >= 0) queue.splice(place, 1)
          reject(signal.reason)
        }
        const waiter: Waiter = {
          count,
          go: () => {
            signal.removeEventListener('abort', stop)
            resolve()
          },
        }
        if (signal.aborted) return reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        queue.push(waiter)
        if (timer !== undefined) clearTimeout(timer)
        drain()
      })
    },
    pauseUntil(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, ms)
    },
    pausedMs: () => Math.max(0, pausedUntilMs - nowMs()),
    setPerS(value) {
      perS = value
      if (timer !== undefined) {
        clearTimeout(timer)
        drain()
      }
    },
    get perS() {
      return perS
    },
  }
}

/** Limits the requests in flight. */
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
        // The slot is handed over, so the count stays.
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
