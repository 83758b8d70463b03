/**
 * How nodes and providers say that an `eth_getLogs` request is too large. The messages were collected from users'
 * reports and documentation (the tests name each). Unrecognised errors halve the range after the second one.
 */

export type LogLimit =
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
