/**
 * Error texts that node providers share across chains: rate limits, denied access, unsupported methods, batch limits.
 */

export const RATE =
  /rate.?limit|too many requests|request(?:s)? (?:limit|per second|rate)|(?:per|every) (?:1 )?second|compute units|throttl|over.?limit|daily (?:request|relay)|capacity|exceeded.{0,20}(?:quota|limit of requests)|slow down|limit exceeded|call rate|limited to [\d,.]+k? ?(?:\/|per )|(?:credits?|usage|tier) limit/i
export const BATCH = /batch/i
export const UNSUPPORTED =
  /method .{0,60}(?:not (?:found|exist|supported|available|allowed|whitelisted)|does not exist)|unsupported method|not supported/i
export const DENIED = /unauthori[sz]ed|forbidden|invalid (?:api )?key|must be authenticated|access denied|project id/i

const NUMBER = /(\d[\d,]*)/

/** The error's text; some nodes put it into `data`, as text or as an object with texts. */
export function wordsOf(error: { message?: unknown; data?: unknown }): string {
  return [error.message, error.data].flatMap(textsIn).join(' ')
}

function textsIn(part: unknown): string[] {
  if (typeof part === 'string') return part.startsWith('0x') ? [] : [part]
  if (typeof part !== 'object' || part === null) return []
  return Object.values(part).filter((value): value is string => typeof value === 'string' && !value.startsWith('0x'))
}

/** The batch limit, if the text states one. */
export function batchLimitIn(words: string): number | undefined {
  const digits = words.match(NUMBER)?.[1]?.replaceAll(',', '')
  const value = Number(digits)
  return digits !== undefined && value >= 1 && value <= 10_000 ? value : undefined
}
