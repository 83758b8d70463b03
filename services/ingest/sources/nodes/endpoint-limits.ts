/**
 * The limits of one endpoint, learned from its answers: blocks per range, addresses per filter, requests per batch,
 * supported calls, and requests per second.
 */
import { createPace, type Pace } from './request-queue.js'

/** Wider ranges do not help: responses are large by then. */
const FIRST_SPAN = 10_000
/** geth's default (`--rpc.getlogmaxaddrs`). */
const FIRST_ADDRESSES = 1000
const FIRST_BATCH = 100
const BATCH_GROWS_AFTER = 200
const SPAN_GROWTH = 1.1
/** After this many good ranges, a limit that was not given as a number is tested again. */
const CEILING_LASTS = 200

export interface LearnedLimits {
  readonly span: number
  /** A range was too wide. `blocks`: the node's stated limit; `fits`: the range it suggests at this density of logs. */
  tooWide(asked: number, blocks: number | undefined, fits: number | undefined): void
  spanWorked(asked: number): void
  readonly addresses: number
  tooManyAddresses(asked: number, limit: number | undefined): void
  readonly batch: number
  batchRefused(asked: number, limit: number | undefined): void
  batchWorked(asked: number): void
  /** The first block whose logs it may still have. */
  logsFrom: number
  /** Calls without a target: undefined until known. */
  deployless: boolean | undefined
  /** `eth_call` as of a block's hash (EIP-1898): undefined until known. */
  callByHash: boolean | undefined
}

export function createLearnedLimits(): LearnedLimits {
  let span = FIRST_SPAN
  let hardSpan = FIRST_SPAN
  let ceiling = FIRST_SPAN
  let ceilingLeft = 0
  let addresses = FIRST_ADDRESSES
  let batch = FIRST_BATCH
  let hardBatch = FIRST_BATCH
  let goodBatches = 0
  const half = (asked: number) => Math.max(1, Math.floor(asked / 2))
  return {
    get span() {
      return Math.max(1, Math.floor(span))
    },
    tooWide(asked, blocks, fits) {
      if (blocks !== undefined && blocks >= 1) {
        // Some nodes mean the distance between first and last block, which is one less.
        hardSpan = Math.max(1, Math.min(hardSpan, blocks, asked - 1))
        span = Math.min(span, hardSpan)
        return
      }
      const next = fits !== undefined && fits >= 1 && fits < asked ? fits : half(asked)
      span = Math.min(span, next)
      ceiling = Math.max(span, asked - 1)
      ceilingLeft = CEILING_LASTS
    },
    spanWorked(asked) {
      if (asked < Math.floor(span)) return
      if (ceilingLeft > 0) ceilingLeft--
      else ceiling = FIRST_SPAN
      span = Math.min(hardSpan, ceiling, Math.max(span * SPAN_GROWTH, span + 1))
    },
    get addresses() {
      return addresses
    },
    tooManyAddresses(asked, limit) {
      addresses = Math.min(addresses, limit !== undefined && limit >= 1 && limit < asked ? limit : half(asked))
    },
    get batch() {
      return batch
    },
    batchRefused(asked, limit) {
      goodBatches = 0
      if (limit !== undefined && limit >= 1 && limit < asked) hardBatch = Math.min(hardBatch, limit)
      batch = Math.min(batch, hardBatch, half(asked))
    },
    batchWorked(asked) {
      if (asked < batch || batch >= hardBatch) return
      if (++goodBatches < BATCH_GROWS_AFTER) return
      goodBatches = 0
      batch = Math.min(hardBatch, batch * 2)
    },
    logsFrom: 0,
    deployless: undefined,
    callByHash: undefined,
  }
}

/** An endpoint's own rate limit: unlimited until it rate-limits us, then reduced at once and raised again step by step. */
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
