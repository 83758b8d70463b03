/**
 * A cache of strings made from bytes: what recurs within an answer is not copied again, and equal texts are the same
 * string wherever they are looked up. Each slot is overwritten by the next text that maps to it, so the cache neither
 * grows nor has to be cleared. Texts are ASCII.
 */

export interface TextCache {
  /** Undefined if not cached. */
  known(bytes: DataView, from: number, to: number): string | undefined
  /** Caches the text. */
  keep(text: string, bytes: DataView, from: number): void
}

const PLACES = 1 << 13
/** A hash with its 0x. Longer texts do not recur. */
const LONGEST = 66
const SHORTEST = 4
const WORDS = Math.ceil(LONGEST / 4)

export function createTextCache(): TextCache {
  const kept = new Int32Array(PLACES * WORDS)
  const texts = new Array<string>(PLACES).fill('')

  return {
    known(bytes, from, to) {
      const length = to - from
      if (length > LONGEST || length < SHORTEST) return undefined
      const place = placeOf(bytes, to)
      const text = texts[place]
      if (text === undefined || text.length !== length) return undefined
      return isSame(bytes, from, to, kept, place * WORDS) ? text : undefined
    },
    keep(text, bytes, from) {
      const { length } = text
      if (length > LONGEST || length < SHORTEST) return
      const place = placeOf(bytes, from + length)
      copyWords(bytes, from, from + length, kept, place * WORDS)
      texts[place] = text
    },
  }
}

/** Copies four characters at a time, the last four first; the words before may overlap them. Needs at least four. */
export function copyWords(bytes: DataView, from: number, to: number, words: Int32Array, first: number): void {
  const last = to - 4
  let word = first
  words[word++] = bytes.getInt32(last, true)
  for (let at = from; at < last; at += 4) words[word++] = bytes.getInt32(at, true)
}

export function isSame(bytes: DataView, from: number, to: number, words: Int32Array, first: number): boolean {
  const last = to - 4
  let word = first
  if (bytes.getInt32(last, true) !== words[word++]) return false
  for (let at = from; at < last; at += 4) if (bytes.getInt32(at, true) !== words[word++]) return false
  return true
}

/** Hashed by the last characters, where hexadecimal texts of one kind differ. */
function placeOf(bytes: DataView, to: number): number {
  const mixed = Math.imul(bytes.getInt32(to - 4, true), 0x9e3779b1)
  return (mixed >>> 16) & (PLACES - 1)
}
