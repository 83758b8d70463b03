/**
 * The limits of one endpoint, learned from its answers: blocks per range, addresses per filter, requests per batch, and
 * supported calls.
 */

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
