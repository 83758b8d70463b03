/**
 * Maps errors of Solana nodes and providers to faults. Codes: agave, `rpc-client-api/src/custom_error.rs`. Providers reuse them for
 * other things (QuickNode's -32007 is a rate limit), so the message is matched first.
 */
import { BATCH, batchLimitIn, DENIED, RATE, UNSUPPORTED, wordsOf } from '../../nodes/provider-errors.js'
import type { ErrorReading, ReadError } from '../../nodes/transport.js'

/** Helius' message with -32429 when a plan's credits are used up. */
const SPENT = /max usage reached|credits limited|insufficient credits|rps limit/i
const BEHIND = /behind by|unhealthy|not (?:been )?reached/i
const SKIPPED = /was skipped/i
const CLEANED_UP = /cleaned up.*?first available block: (\d+)|cleaned up/i
const NOT_YET = /not (?:yet )?available for slot|block not (?:found|available)|end slot out of limit/i
/** For transactions newer than the requested version. */
const VERSION = /transaction version \(\d+\) is not supported/i
const STORAGE_AWAY = /failed to query long-term storage/i
const NO_HISTORY = /transaction history is not available/i

const KIND_OF_CODE: Readonly<Record<number, ErrorReading['kind']>> = {
  429: 'rate_limited',
  [-32429]: 'rate_limited',
  [-32401]: 'denied',
  [-32403]: 'denied',
  [-32001]: 'pruned',
  [-32004]: 'unknown_block',
  [-32005]: 'lags',
  [-32007]: 'skipped',
  [-32009]: 'skipped',
  [-32010]: 'unsupported',
  [-32011]: 'unsupported',
  [-32014]: 'unknown_block',
  [-32015]: 'unsupported',
  [-32016]: 'lags',
  [-32019]: 'unavailable',
  [-32601]: 'unsupported',
}

export const readError: ReadError = (error, { batch, isAboutAll, status }): ErrorReading => {
  const code = typeof error.code === 'number' ? error.code : undefined
  const words = wordsOf(error)
  const detail = `${code === undefined ? '' : `${code} `}${words}`.trim() || `HTTP ${status ?? 'error'}`
  const isBatch = batch > 1 && isAboutAll === true

  if (status === 429) return { kind: 'rate_limited', detail }
  if (batch > 1 && BATCH.test(words)) return { kind: 'batch_refused', detail, ...limited(batchLimitIn(words)) }
  const worded = kindOfWords(words)
  if (worded === 'pruned') return { kind: 'pruned', detail, ...limited(firstBlockIn(words)) }
  if (worded !== undefined) return { kind: worded, detail: VERSION.test(words) ? `${detail}: ${TOO_NEW}` : detail }
  if (status === 401 || status === 403) return { kind: 'denied', detail }
  if (status === 413) return { kind: isBatch ? 'batch_refused' : 'too_wide', detail }
  const coded = code === undefined ? undefined : KIND_OF_CODE[code]
  if (coded !== undefined) return { kind: coded, detail }
  if (code === -32602 || code === -32600) return { kind: isBatch ? 'batch_refused' : 'invalid', detail }
  if (status !== undefined && status >= 500) return { kind: 'unavailable', detail }
  return { kind: 'node_error', detail }
}

const TOO_NEW = 'the chain has transactions of a newer version than Dextape supports. Upgrade Dextape'

function kindOfWords(words: string): ErrorReading['kind'] | undefined {
  if (SKIPPED.test(words)) return 'skipped'
  if (CLEANED_UP.test(words)) return 'pruned'
  if (NOT_YET.test(words)) return 'unknown_block'
  if (VERSION.test(words) || NO_HISTORY.test(words)) return 'unsupported'
  if (STORAGE_AWAY.test(words)) return 'unavailable'
  if (RATE.test(words) || SPENT.test(words)) return 'rate_limited'
  if (BEHIND.test(words)) return 'lags'
  if (UNSUPPORTED.test(words)) return 'unsupported'
  if (DENIED.test(words)) return 'denied'
  return undefined
}

const limited = (limit: number | undefined) => (limit === undefined ? {} : { limit })

function firstBlockIn(words: string): number | undefined {
  const digits = words.match(CLEANED_UP)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
