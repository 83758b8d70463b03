/** Whether bytes are 0x and hexadecimal digits in lower case: four at once, since most of a node's answer is such. */

const PREFIX = 0x3078
const [DIGITS, LETTERS_MORE] = [0x30303030, 0x30]

export function isLowerHex(bytes: DataView, from: number, to: number): boolean {
  if (to - from < 2 || bytes.getInt16(from) !== PREFIX) return false
  let wrong = 0
  let at = from + 2
  for (; at + 4 <= to; at += 4) wrong |= wrongIn(bytes.getInt32(at))
  // What is left, with zeros before it.
  if (at < to) {
    let rest = DIGITS
    for (; at < to; at++) rest = (rest << 8) | bytes.getUint8(at)
    wrong |= wrongIn(rest)
  }
  return wrong === 0
}

/** 0 where each of its bytes is 0 to 9 (0x30 to 0x39) or a to f (0x61 to 0x66). */
function wrongIn(four: number): number {
  /** 1 in each byte that must be a letter. */
  const letters = (four >>> 6) & 0x01010101
  const low = four & 0x0f0f0f0f
  const upper = (four & 0xf0f0f0f0) ^ (DIGITS + letters * LETTERS_MORE)
  const tooHigh = (low + 0x06060606 + letters * 3) & 0x10101010
  const tooLow = ~(low + 0x0f0f0f0f) & (letters << 4)
  return upper | tooHigh | tooLow
}
