/**
 * An endpoint's own rate limit: unlimited until it rate-limits us, then reduced at once and raised again step by step.
 */
import { createPace, type Pace } from './request-queue.js'

export interface AdaptiveRate {
  readonly pace: Pace
  /** Counts requests that were sent. */
  sent(count: number): void
  limited(retryAfterMs: number | undefined): void
  succeeded(): void
}

const FREE = Number.POSITIVE_INFINITY
const SLOWEST_PER_S = 0.5
const LESS = 0.7
/** Fast growth up to near the rate that was too fast, slow growth beyond. */
const MORE_FAR = 0.3
const MORE_NEAR = 0.03
const NEAR = 0.85
const MORE_AT_LEAST_PER_S = 0.5
/** Above this rate the limit is lifted: no provider's limit is known to be higher. */
const FREE_AGAIN_PER_S = 5000
const DEFAULT_PAUSE_MS = 300
const LONGEST_PAUSE_MS = 60_000
const STEP_MS = 1000
/** One rate-limit error within this time only pauses; a second one lowers the rate. */
const AGAIN_MS = 3000
const PEAK_OF_S = 5

export function createAdaptiveRate(nowMs: () => number): AdaptiveRate {
  const pace = createPace(FREE, nowMs)
  let steppedMs = Number.NEGATIVE_INFINITY
  let limitedMs = Number.NEGATIVE_INFINITY
  let tooFastPerS = FREE
  /** Requests by second, newest last. */
  let seconds: { s: number; count: number }[] = []

  function peakPerS(): number {
    const now = Math.floor(nowMs() / 1000)
    seconds = seconds.filter(({ s }) => s > now - PEAK_OF_S)
    return Math.max(1, ...seconds.map(({ count }) => count))
  }

  return {
    pace,
    sent(count) {
      const s = Math.floor(nowMs() / 1000)
      const last = seconds.at(-1)
      if (last?.s === s) last.count += count
      else {
        seconds.push({ s, count })
        if (seconds.length > PEAK_OF_S) seconds.shift()
      }
    },
    limited(retryAfterMs) {
      const now = nowMs()
      const isAgain = now - limitedMs < AGAIN_MS
      limitedMs = now
      pace.pauseUntil(now + Math.min(LONGEST_PAUSE_MS, retryAfterMs ?? DEFAULT_PAUSE_MS))
      // One burst lowers the rate once.
      if (!isAgain || now - steppedMs < STEP_MS) return
      steppedMs = now
      // The limit is somewhere below the rate that was really sent.
      tooFastPerS = Math.min(pace.perS, peakPerS())
      pace.setPerS(Math.max(SLOWEST_PER_S, tooFastPerS * LESS))
    },
    succeeded() {
      const now = nowMs()
      if (pace.perS === FREE || now - steppedMs < STEP_MS) return
      steppedMs = now
      const more = pace.perS < tooFastPerS * NEAR ? MORE_FAR : MORE_NEAR
      const faster = pace.perS + Math.max(MORE_AT_LEAST_PER_S, pace.perS * more)
      pace.setPerS(faster > FREE_AGAIN_PER_S ? FREE : faster)
    },
  }
}
