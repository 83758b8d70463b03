/**
 * Texts made from bytes, each once as long as it is remembered: what recurs within an answer need not be copied again, and the same text is
 * the same object wherever it is looked up. A place is taken over by whatever comes to it next, so the cache neither grows nor
 * has to be cleared. Texts are ASCII.
 */

export interface TextCache {
  /** Undefined: not remembered. */
  known(bytes: DataView, from: number, to: number): string | undefined
  /** Remembered from now on. */
  keep(text: string, bytes: DataView, from: number): void
}

const PLACES = 1 << 13
/** A hash with its 0x. Longer ones do not recur. */
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

/** Four characters at once, the last four first; what is left before them overlaps with them. At least four. */
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

/** By its end: hexadecimal texts of one kind differ there. */
function placeOf(bytes: DataView, to: number): number {
  const mixed = Math.imul(bytes.getInt32(to - 4, true), 0x9e3779b1)
  return (mixed >>> 16) & (PLACES - 1)
}
