/** Turns what a node or its HTTP server says into a fault. Codes mean different things to different nodes, so words are read first. */

import type { ErrorReading, ReadError } from '../../nodes/transport.js'
import { type LogLimit, readLogLimit } from './log-limits.js'

const RATE =
  /rate.?limit|too many requests|request(?:s)? (?:limit|per second|rate)|(?:per|every) (?:1 )?second|compute units|throttl|over.?limit|daily (?:request|relay)|capacity|exceeded.{0,20}(?:quota|limit of requests)|slow down|limit exceeded|call rate/i
/** -32005 alone is also how BNB Chain's public nodes say that they have no logs at all. */
const RATE_OF_REQUESTS = /rate|second|minute|request|daily|capacity|units/i
const TOO_MUCH: LogLimit = { kind: 'range' }
const PRUNED =
  /missing trie node|historical state|state (?:.{0,90})?(?:is )?(?:not available|unavailable)|pruned|pruning|archive|state histor|proof window|no state (?:available|found)|old data not available/i
const UNKNOWN_BLOCK =
  /header not found|unknown block|block (?:.{0,70} )?(?:is )?not found|block.{0,60}cannot be found|could not find block|resource not found|(?:after|beyond|past) (?:the )?(?:current )?(?:last|latest|head)|block is out of range|invalid block range|not yet available|unfinalized|no (?:such )?block/i
const BATCH = /batch/i
const REVERTED =
  /revert|invalid opcode|opcode .* not defined|invalid jump|stack (?:under|over)flow|out of gas|outofgas|gas uint64 overflow|execution (?:error|failed)|vm (?:execution )?error|max code size|invalid code/i
const UNSUPPORTED =
  /method .{0,60}(?:not (?:found|exist|supported|available|allowed|whitelisted)|does not exist)|unsupported method|not supported/i
const DENIED = /unauthori[sz]ed|forbidden|invalid (?:api )?key|must be authenticated|access denied|project id/i
const NUMBER = /(\d[\d,]*)/

export const readError: ReadError = (error, context): ErrorReading => {
  const { method, batch, status } = context
  const code = typeof error.code === 'number' ? error.code : undefined
  const words = [error.message, error.data].flatMap((part) => wordsOf(part)).join(' ')
  const detail = `${code === undefined ? '' : `${code} `}${words}`.trim() || `HTTP ${status ?? 'error'}`

  if (status === 429 || code === 429) return { kind: 'rate_limited', detail }
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
  if (batch > 1 && BATCH.test(words)) return { kind: 'batch_refused', detail, ...limited(numberIn(words)) }
  if (code === 3) return { kind: 'reverted', detail }
  if (RATE.test(words)) return { kind: 'rate_limited', detail }
  if (method === 'eth_call' && REVERTED.test(words)) return { kind: 'reverted', detail }
  if (UNKNOWN_BLOCK.test(words)) return { kind: 'unknown_block', detail }
  if (PRUNED.test(words)) return { kind: 'pruned', detail }
  if (code === -32601 || UNSUPPORTED.test(words)) return { kind: 'unsupported', detail }
  if (status === 401 || status === 403 || DENIED.test(words)) return { kind: 'denied', detail }
  const isBatch = batch > 1 && context.isAboutAll === true
  if (status === 413) return { kind: isBatch ? 'batch_refused' : 'too_wide', detail }
  if (code === -32005) return { kind: 'rate_limited', detail }
  if (code === -32602 || code === -32600) return { kind: isBatch ? 'batch_refused' : 'invalid', detail }
  if (status !== undefined && status >= 500) return { kind: 'unavailable', detail }
  return { kind: 'node_error', detail }
}

const limited = (limit: number | undefined) => (limit === undefined ? {} : { limit })

function numberIn(words: string): number | undefined {
  const digits = words.match(NUMBER)?.[1]?.replaceAll(',', '')
  const value = Number(digits)
  return digits !== undefined && value >= 1 && value <= 10_000 ? value : undefined
}

/** Some tell what happened in `data`, as a text or as an object with texts. */
function wordsOf(part: unknown): string[] {
  if (typeof part === 'string') return part.startsWith('0x') ? [] : [part]
  if (typeof part !== 'object' || part === null) return []
  return Object.values(part).filter((value): value is string => typeof value === 'string' && !value.startsWith('0x'))
}
