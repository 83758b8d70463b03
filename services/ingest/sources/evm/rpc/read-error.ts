/** Classifies errors of nodes and their HTTP servers. Error codes differ between nodes, so texts are matched first. */

import { BATCH, batchLimitIn, DENIED, RATE, UNSUPPORTED, wordsOf } from '../../nodes/provider-errors.js'
import type { ErrorReading, ReadError } from '../../nodes/transport.js'
import { type LogLimit, readLogLimit } from './log-limits.js'

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
