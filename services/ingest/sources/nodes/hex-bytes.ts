/** Hexadecimal digits in lower case among bytes: four at once, since most of a node's answer is such. */

const PREFIX = 0x3078
const [DIGITS, LETTERS_MORE] = [0x30303030, 0x30]

/** Where a run of 0x and digits ends; `from` where there is none. */
export function endOfLowerHex(bytes: DataView, from: number, end: number): number {
  if (end - from < 2 || bytes.getInt16(from) !== PREFIX) return from
  let at = from + 2
  while (at + 4 <= end && wrongIn(bytes.getInt32(at)) === 0) at += 4
  // The rest of it byte by byte, with zeros before.
  while (at < end && wrongIn((DIGITS & ~0xff) | bytes.getUint8(at)) === 0) at++
  return at
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
