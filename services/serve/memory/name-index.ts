/**
 * Which tokens may have a text in their symbol, name or address: those that have its rarest three characters. Built part by part
 * while searches come, so that none waits for the whole; what is not in a part yet is always among the candidates.
 */
import type { ServedChain, TokenState } from './served-chain.js'

/** Tokens of a part: their numbers in it take two bytes. */
export const PART_TOKENS = 8_192
/** Parts made by one search, which takes about as long again as the search through what is in no part yet. */
const PARTS_PER_SEARCH = 1
const BUCKETS = 1 << 14
/** More of a keyword's buckets hardly rule out more. */
const MOST_BUCKETS = 4
const ASCII_END = 128

/** The tokens of a bucket are `tokens` from `starts[bucket]` up to the next start, ascending. */
type Part = { first: number; starts: Uint32Array; tokens: Uint16Array }

const indexes = new WeakMap<readonly string[], Part[]>()

/**
 * A superset of the tokens with the keyword, some of them twice. Undefined: the keyword is too short to tell, or most tokens are in
 * no part yet, and going through all of them is quicker.
 */
export function candidatesOf(state: ServedChain, keyword: string): Iterable<TokenState> | undefined {
  const buckets = [...bucketsOf(keyword)]
  if (buckets.length === 0) return undefined
  const parts = extendedParts(state)
  return 2 * parts.length * PART_TOKENS < state.named.length ? undefined : readCandidates(state, parts, buckets)
}

function* readCandidates(
  { named, tokens }: ServedChain,
  parts: readonly Part[],
  buckets: readonly number[],
): Iterable<TokenState> {
  for (const part of parts) {
    for (const n of tokensIn(part, buckets)) {
      const token = tokens.get(named[part.first + n] as string)
      if (token !== undefined) yield token
    }
  }
  for (let n = parts.length * PART_TOKENS; n < named.length; n += 1) {
    const token = tokens.get(named[n] as string)
    if (token !== undefined) yield token
  }
}

function extendedParts(state: ServedChain): readonly Part[] {
  const parts = indexes.get(state.named) ?? []
  indexes.set(state.named, parts)
  for (let made = 0; made < PARTS_PER_SEARCH; made += 1) {
    const first = parts.length * PART_TOKENS
    if (first + PART_TOKENS > state.named.length) break
    parts.push(partOf(state, first))
  }
  return parts
}

/** A token that is gone or renamed by now is found by its later entry, if it has one. */
function partOf({ named, tokens }: ServedChain, first: number): Part {
  const own = Array.from({ length: PART_TOKENS }, (_, n) => {
    const token = tokens.get(named[first + n] as string)
    return token === undefined ? [] : [...bucketsOf(token.token, token.info.symbol ?? '', token.info.name ?? '')]
  })
  const starts = new Uint32Array(BUCKETS + 1)
  for (const buckets of own) for (const bucket of buckets) starts[bucket + 1] = (starts[bucket + 1] as number) + 1
  for (let bucket = 0; bucket < BUCKETS; bucket += 1)
    starts[bucket + 1] = (starts[bucket + 1] as number) + (starts[bucket] as number)
  const next = starts.slice()
  const sorted = new Uint16Array(starts[BUCKETS] as number)
  for (const [n, buckets] of own.entries())
    for (const bucket of buckets) {
      const at = next[bucket] as number
      sorted[at] = n
      next[bucket] = at + 1
    }
  return { first, starts, tokens: sorted }
}

/** The tokens that are in every bucket. */
function tokensIn({ starts, tokens }: Part, buckets: readonly number[]): Uint16Array {
  const lists = buckets
    .map((bucket) => tokens.subarray(starts[bucket], starts[bucket + 1]))
    .sort((a, b) => a.length - b.length)
  const [rarest = tokens.subarray(0, 0), ...others] = lists.slice(0, MOST_BUCKETS)
  return others.reduce(inBoth, rarest)
}

function inBoth(few: Uint16Array, many: Uint16Array): Uint16Array {
  const both = new Uint16Array(few.length)
  let count = 0
  let at = 0
  for (const n of few) {
    while (at < many.length && (many[at] as number) < n) at += 1
    if (many[at] !== n) continue
    both[count] = n
    count += 1
  }
  return both.subarray(0, count)
}

/** The buckets of each three ASCII characters in a row. */
function bucketsOf(...texts: readonly string[]): Set<number> {
  const buckets = new Set<number>()
  for (const text of texts) {
    let [before, last] = [ASCII_END, ASCII_END]
    for (let at = 0; at < text.length; at += 1) {
      const code = folded(text.charCodeAt(at))
      if (before < ASCII_END && last < ASCII_END && code < ASCII_END)
        buckets.add((before * 1_369 + last * 37 + code) % BUCKETS)
      before = last
      last = code
    }
  }
  return buckets
}

/** As a pattern with the flags `iu` compares: two characters beyond ASCII are equal to letters of it (long s and the Kelvin sign). */
function folded(code: number): number {
  if (code >= 65 && code <= 90) return code + 32
  if (code === 0x17f) return 115
  return code === 0x212a ? 107 : code
}
