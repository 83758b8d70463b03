/** An endpoint's own pace: free until it says "too fast", then more, little by little, and less at once. */
import { createPace, type Pace } from './pace.js'

export interface AdaptiveRate {
  readonly pace: Pace
  /** So many requests were sent. */
  sent(count: number): void
  limited(retryAfterMs: number | undefined): void
  succeeded(): void
}

const FREE = Number.POSITIVE_INFINITY
const SLOWEST_PER_S = 0.5
const LESS = 0.7
const MORE = 0.03
const MORE_AT_LEAST_PER_S = 0.5
/** Faster than any provider's limit that was ever met this way. */
const FREE_AGAIN_PER_S = 5000
const DEFAULT_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000
const STEP_MS = 1000

export function createAdaptiveRate(nowMs: () => number): AdaptiveRate {
  const pace = createPace(FREE, nowMs)
  let steppedMs = 0
  let windowMs = 0
  let inWindow = 0
  let lastPerS = 0

  /** What was really sent: the limit is somewhere below it. */
  function count(requests: number): void {
    const now = nowMs()
    if (now - windowMs >= 1000) {
      lastPerS = now - windowMs < 2000 ? inWindow : 0
      inWindow = 0
      windowMs = now
    }
    inWindow += requests
  }

  return {
    pace,
    sent: count,
    limited(retryAfterMs) {
      const now = nowMs()
      pace.pauseUntil(now + Math.min(LONGEST_PAUSE_MS, retryAfterMs ?? DEFAULT_PAUSE_MS))
      // One burst is one lesson.
      if (now - steppedMs < STEP_MS) return
      steppedMs = now
      const measured = Math.max(lastPerS, inWindow, 1)
      pace.setPerS(Math.max(SLOWEST_PER_S, Math.min(pace.perS, measured) * LESS))
    },
    succeeded() {
      const now = nowMs()
      if (pace.perS === FREE || now - steppedMs < STEP_MS) return
      steppedMs = now
      const faster = pace.perS + Math.max(MORE_AT_LEAST_PER_S, pace.perS * MORE)
      pace.setPerS(faster > FREE_AGAIN_PER_S ? FREE : faster)
    },
  }
}
