/**
 * What a text is found by: each three characters in a row, its first one to three, and the whole of it, as numbers of buckets; a
 * symbol or name also by each one or two. Texts share a bucket by chance, so what is found has to be compared. Characters are compared
 * as patterns with the flags `iu` do.
 */

/** Kinds of very different size have buckets of their own: a character is in most tokens, three in a row in one of a hundred. */
const PART_BUCKETS = 1 << 14
const EDGE_BUCKETS = 1 << 13
const PAIR_BUCKETS = 1 << 12
const ASCII_END = 128
const [EDGES, PAIRS] = [PART_BUCKETS, PART_BUCKETS + EDGE_BUCKETS]
const SINGLES = PAIRS + PAIR_BUCKETS
const FIRSTS = SINGLES + ASCII_END
export const BUCKETS = FIRSTS + ASCII_END

const PART = 1
const START = 2
const WHOLE = 3
const LONGEST_START = 3
const PART_LENGTH = 3

/** The stages of a search, each with the buckets that a token must be in; no buckets: the stage finds nothing. */
export type KeywordBuckets = { whole: readonly number[]; start: readonly number[]; part: readonly number[] }

/** One or two ASCII characters are a part of nearly every address: they are only looked for in symbols and names. */
export const isShort = (keyword: string): boolean => keyword !== '' && areShort(foldedCodes(keyword))

const areShort = (codes: readonly number[]): boolean =>
  codes.length < PART_LENGTH && codes.every((code) => code < ASCII_END)

export function keywordBuckets(keyword: string): KeywordBuckets {
  const codes = foldedCodes(keyword)
  const part = areShort(codes) ? shortParts(codes, codes.length) : [...new Set(partsOf(codes))]
  const first = startOf(codes, LONGEST_START)
  // The many tokens that start with one character: no other bucket rules any of them out.
  const start = first >= FIRSTS ? [first] : [first, ...part]
  return { whole: [hashOf(WHOLE, codes), ...start], start, part }
}

export function tokenBuckets(address: string, symbol: string, name: string): Set<number> {
  const addressCodes = foldedCodes(address)
  const buckets = new Set(partsOf(addressCodes))
  buckets.add(startOf(addressCodes, LONGEST_START))
  for (const text of [symbol, name]) {
    const codes = foldedCodes(text)
    for (const bucket of partsOf(codes)) buckets.add(bucket)
    for (const length of [1, 2]) for (const bucket of shortParts(codes, length)) buckets.add(bucket)
    for (let length = 1; length <= Math.min(LONGEST_START, codes.length); length += 1)
      buckets.add(startOf(codes, length))
    if (codes.length > 0) buckets.add(hashOf(WHOLE, codes))
  }
  return buckets
}

function startOf(codes: readonly number[], length: number): number {
  const [first = ASCII_END] = codes
  const isSingle = Math.min(length, codes.length) === 1 && first < ASCII_END
  return isSingle ? FIRSTS + first : hashOf(START, codes, 0, Math.min(length, codes.length))
}

/** Beyond ASCII a single character tells enough: words of one or two are common there. */
function partsOf(codes: readonly number[]): number[] {
  const buckets: number[] = []
  for (let at = 0; at < codes.length; at += 1) {
    if ((codes[at] as number) >= ASCII_END) buckets.push(hashOf(PART, codes, at, 1))
    if (at + PART_LENGTH <= codes.length) buckets.push(hashOf(PART, codes, at, PART_LENGTH))
  }
  return buckets
}

/** Each one or two ASCII characters in a row. */
function shortParts(codes: readonly number[], length: number): number[] {
  const buckets: number[] = []
  for (let at = 0; at + length <= codes.length; at += 1) {
    const [first, second] = [codes[at] as number, length === 1 ? 0 : (codes[at + 1] as number)]
    if (first >= ASCII_END || second >= ASCII_END) continue
    buckets.push(length === 1 ? SINGLES + first : PAIRS + ((first * 37 + second) & (PAIR_BUCKETS - 1)))
  }
  return buckets
}

/** FNV-1a over character codes. */
function hashOf(kind: number, codes: readonly number[], from = 0, length = codes.length): number {
  let hash = 0x811c9dc5 ^ kind
  for (let at = from; at < from + length; at += 1) hash = Math.imul(hash, 0x01000193) ^ (codes[at] as number)
  hash = Math.imul(hash, 0x01000193)
  const mixed = hash ^ (hash >>> 15)
  return kind === PART ? mixed & (PART_BUCKETS - 1) : EDGES + (mixed & (EDGE_BUCKETS - 1))
}

function foldedCodes(text: string): number[] {
  const codes: number[] = []
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    codes.push(isCasedHigh(text.charCodeAt(at - 1)) ? LOW_SURROGATE : foldCode(code))
  }
  return codes
}

const LOW_SURROGATE = 0xdc00

/** The first halves of letters that have a case beyond the basic plane (Deseret, Old Hungarian, Warang Citi, Medefaidrin, Adlam …). */
const isCasedHigh = (code: number): boolean =>
  code === 0xd801 || code === 0xd803 || code === 0xd806 || code === 0xd81b || code === 0xd83a

/** Equal for two characters that a pattern with the flags `iu` takes for equal. */
export function foldCode(code: number): number {
  if (code < ASCII_END) return code >= 65 && code <= 90 ? code + 32 : code
  const known = folds.get(code)
  if (known !== undefined) return known
  const character = String.fromCharCode(code)
  const folded =
    SAME_FOLD[character]?.charCodeAt(0) ?? single(single(character, 'toUpperCase'), 'toLowerCase').charCodeAt(0)
  folds.set(code, folded)
  return folded
}

const folds = new Map<number, number>()

/** Pairs of which neither is the other's capital (Unicode, CaseFolding.txt). */
const SAME_FOLD: Readonly<Record<string, string>> = { '\u1fd3': '\u0390', '\u1fe3': '\u03b0', '\ufb05': '\ufb06' }

function single(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]()
  return changed.length === 1 ? changed : character
}
