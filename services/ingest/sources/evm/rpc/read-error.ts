/** Classifies errors of nodes and their HTTP servers. Error codes differ between nodes, so texts are matched first. */
import { BATCH, batchLimitIn, DENIED, RATE, UNSUPPORTED, wordsOf } from '../../nodes/provider-errors.js'
import type { ErrorReading, ReadError } from '../../nodes/transport.js'

/** BNB Chain's public nodes also return -32005 when they serve no logs at all. */
const RATE_OF_REQUESTS = /rate|second|minute|request|daily|capacity|units/i
const TOO_MUCH: LogLimit = { kind: 'range' }
const PRUNED =
  /missing trie node|historical state|state (?:.{0,90})?(?:is )?(?:not available|unavailable)|pruned|pruning|archive|state histor|proof window|no state (?:available|found)|(?:old|requested) data (?:is )?not available|no historical rpc/i
const UNKNOWN_BLOCK =
  /header not found|unknown block|block (?:.{0,70} )?(?:is )?not found|block.{0,60}cannot be found|could not find block|resource not found|(?:after|beyond|past) (?:the )?(?:current )?(?:last|latest|head)|block is out of range|invalid block range|not yet available|unfinalized|no (?:such )?block|\d could not be found|not currently canonical|greater than latest/i
const REVERTED =
  /revert|invalid opcode|opcode .* not defined|invalid jump|stack (?:under|over)flow|out of gas|outofgas|gas uint64 overflow|execution (?:error|failed)|vm (?:execution )?error|max code size|invalid code/i

/** How nodes reject the `finalized` tag: by name, or as an invalid number. */
const UNKNOWN_TAG = /\bfinalized\b|malformed block ?number|invalid syntax/i
/** Request Timeout, Gateway Timeout, and Cloudflare's. */
const TIMED_OUT: ReadonlySet<number> = new Set([408, 504, 524])

export const readError: ReadError = (error, context): ErrorReading => {
  const { method, batch, status } = context
  const code = typeof error.code === 'number' ? error.code : undefined
  const words = wordsOf(error)
  const detail = `${code === undefined ? '' : `${code} `}${words}`.trim() || `HTTP ${status ?? 'error'}`

  if (status === 429 || code === 429) return { kind: 'rate_limited', detail }
  // First: a revert reason may be any text, and not all nodes mark reverts by code.
  if (code === 3 || (method === 'eth_call' && REVERTED.test(words))) return { kind: 'reverted', detail }
  if (method === 'eth_getLogs') {
    const limit = readLogLimit(words) ?? (code === -32005 && !RATE_OF_REQUESTS.test(words) ? TOO_MUCH : null)
    if (limit?.kind === 'addresses') return { kind: 'too_many_addresses', detail, ...limited(limit.addresses) }
    if (limit?.kind === 'range')
      return {
        kind: 'too_wide',
        detail,
        ...limited(limit.blocks),
        ...(limit.suggested === undefined ? {} : { span: limit.suggested }),
      }
  }
  if (batch > 1 && BATCH.test(words)) return { kind: 'batch_refused', detail, ...limited(batchLimitIn(words)) }
  if (RATE.test(words)) return { kind: 'rate_limited', detail }
  if (method === 'eth_getBlockByNumber' && UNKNOWN_TAG.test(words)) return { kind: 'unsupported', detail }
  if (UNKNOWN_BLOCK.test(words)) return { kind: 'unknown_block', detail }
  if (PRUNED.test(words)) return { kind: 'pruned', detail }
  if (code === -32601 || UNSUPPORTED.test(words)) return { kind: 'unsupported', detail }
  if (status === 401 || status === 403 || DENIED.test(words)) return { kind: 'denied', detail }
  const isBatch = batch > 1 && context.isAboutAll === true
  if (status === 413) return { kind: isBatch ? 'batch_refused' : 'too_wide', detail }
  if (code === -32005) return { kind: 'rate_limited', detail }
  if (code === -32602 || code === -32600) return { kind: isBatch ? 'batch_refused' : 'invalid', detail }
  if (status !== undefined && TIMED_OUT.has(status)) return { kind: 'timeout', detail }
  if (status !== undefined && status >= 500) return { kind: 'unavailable', detail }
  return { kind: 'node_error', detail }
}

const limited = (limit: number | undefined) => (limit === undefined ? {} : { limit })

/**
 * How nodes and providers say that an `eth_getLogs` request is too large. The messages were collected from users'
 * reports and documentation (the tests name each). Unrecognised errors halve the range after the second one.
 */
type LogLimit =
  /** `blocks`: the widest allowed range, if stated. `suggested`: a range the node suggests at this density of logs. */
  | { kind: 'range'; blocks?: number; suggested?: { from: number; to: number } }
  | { kind: 'addresses'; addresses?: number }

type Entry = { pattern: RegExp; read: (match: RegExpMatchArray) => LogLimit }

const count = (text: string | undefined): number => Number((text ?? '').replace(/[,._\s]/g, ''))
const kilo = (digits: string | undefined, k: string | undefined): number => count(digits) * (k ? 1000 : 1)

/** A limit in blocks: digits, and an optional `k`. */
const blocks = (pattern: RegExp): Entry => ({
  pattern,
  read: ([, digits, k]) => {
    const limit = kilo(digits, k)
    return limit >= 1 ? { kind: 'range', blocks: limit } : { kind: 'range' }
  },
})
const tooMuch = (pattern: RegExp): Entry => ({ pattern, read: () => ({ kind: 'range' }) })
const suggested = (pattern: RegExp, base: 10 | 16): Entry => ({
  pattern,
  read: ([, from, to]) => ({
    kind: 'range',
    suggested: { from: Number.parseInt(from ?? '', base), to: Number.parseInt(to ?? '', base) },
  }),
})

const ENTRIES: readonly Entry[] = [
  {
    pattern: /exceed(?:s|ed)?\s+max(?:imum)?\s+addresses(?:\D+(\d+))?/i,
    read: ([, max]) => (max === undefined ? { kind: 'addresses' } : { kind: 'addresses', addresses: Number(max) }),
  },
  {
    pattern: /(?:too many|less number of|number of|maximum|limit\w*)[^.]{0,40}\baddresses\b/i,
    read: () => ({ kind: 'addresses' }),
  },
  // Too many logs, not too wide: the width it mentions is not the limit.
  suggested(/response size exceeded.*\[\s*0x([0-9a-f]+)\s*,\s*0x([0-9a-f]+)\s*\]/is, 16),
  blocks(/up to an? (\d[\d,.]*)(k?)[ -]block range/i),
  suggested(/\[\s*0x([0-9a-f]+)\s*,\s*0x([0-9a-f]+)\s*\]/i, 16),
  suggested(/retry with the range (\d+)\s*-\s*(\d+)/i, 10),
  blocks(/ranges over (\d[\d,.]*)(k?) blocks/i),
  blocks(/limited to(?: an?)? 0\s*-\s*(\d[\d,.]*)(k?) blocks? range/i),
  blocks(/limited to an? (\d[\d,.]*)(k?)/i),
  blocks(/limited to (\d[\d,.]*)(k?) blocks?/i),
  blocks(/maximum is set to (\d[\d,.]*)(k?)/i),
  blocks(/max range: (\d[\d,.]*)(k?)/i),
  blocks(/(?:maximum allowed|max(?:imum)?) number of requested blocks is (\d[\d,.]*)(k?)/i),
  blocks(/max(?:imum|imin)? block range\s*(?:is|:|=|of)?\s*(\d[\d,.]*)(k?)/i),
  blocks(/maximum \[from, to\] blocks distance: (\d[\d,.]*)(k?)/i),
  blocks(/at most (\d[\d,.]*)(k?) blocks/i),
  blocks(/more than (\d[\d,.]*)(k?) blocks/i),
  blocks(/block range (?:is )?(?:greater|larger|bigger|more) than (\d[\d,.]*)(k?)/i),
  blocks(/block range exceeds (\d[\d,.]*)(k?)/i),
  blocks(/block range is too wide \(maximum (\d[\d,.]*)(k?)\)/i),
  blocks(/max is (\d[\d,.]*)(k?) blocks/i),
  blocks(/must be smaller than size (\d[\d,.]*)(k?)/i),
  blocks(/exceeds the range allowed for your plan \(\d+ > (\d[\d,.]*)(k?)\)/i),
  blocks(/range \d+ (?:is bigger than range limit|exceeds limit of) (\d[\d,.]*)(k?)/i),
  blocks(/(?:block range|range of blocks)[^.]{0,40}(?:limit|max\w*|exceed\w*)\D{0,20}?(\d[\d,.]+)(k?)/i),
  tooMuch(/query returned more than/i),
  tooMuch(/query exceeds (?:limit|max (?:results|block range))/i),
  tooMuch(/logs matched by query exceeds limit/i),
  tooMuch(/(?:response|result)(?: size)?[^.]{0,20}(?:exceed|too (?:large|big)|should not (?:be )?greater)/i),
  tooMuch(/block range (?:is )?(?:too|larger|bigger|greater|limit|exceed)/i),
  tooMuch(/(?:range|query) (?:is )?too (?:large|wide|big|high)/i),
  tooMuch(/exceed(?:s|ed)? (?:the )?(?:max(?:imum)? )?(?:block )?range/i),
  tooMuch(/range exceeds max/i),
  tooMuch(/memory capacity exceeded/i),
  tooMuch(/too many (?:blocks|logs|results)/i),
  tooMuch(/timed out|deadline exceeded|(?:query|request) timeout|timeout.{0,20}getLogs/i),
]

/** Null if the message is not about a limit of `eth_getLogs`. */
export function readLogLimit(message: string): LogLimit | null {
  for (const { pattern, read } of ENTRIES) {
    const match = message.match(pattern)
    if (match !== null) return read(match)
  }
  return null
}
