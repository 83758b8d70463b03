/**
 * Lower-case hexadecimal text, read as bytes: a byte of a buffer is read several times faster than a character of a
 * string, and numbers are most of what decoding does. The last text stays in the buffer, because its words are read one
 * after another.
 */

const encoder = new TextEncoder()
const FIRST_BYTES = 4096
const [WORD, HALF] = [64, 32]
const [FOUR_ZEROS, FOUR_FS] = [0x30303030, 0x66666666]
/** 0x. */
const PREFIX = 0x3078
const TWO_TO_128 = 1n << 128n
/** Digits by character code; every other character has high bits that no digit has. */
const DIGIT = new Uint8Array(256).fill(0xff)
for (let digit = 0; digit < 16; digit++) DIGIT[digit.toString(16).charCodeAt(0)] = digit

let bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
let view = new DataView(bytes.buffer)
let loaded = ''
/** Whether `loaded` is ASCII only; if not, nothing in it counts as a digit. */
let isPlain = true

const limbs = new Uint32Array(4)
const numbers = new BigUint64Array(limbs.buffer)

function load(text: string): void {
  if (text === loaded) return
  if (text.length > bytes.length) {
    bytes = Buffer.allocUnsafeSlow(text.length * 2)
    view = new DataView(bytes.buffer)
  }
  const { read, written } = encoder.encodeInto(text, bytes)
  isPlain = read === text.length && written === text.length
  loaded = text
}

/** Whether the whole range exists and holds digits only. */
export function isHex(text: string, from: number, to: number): boolean {
  load(text)
  if (!isPlain || to > text.length) return false
  let bits = 0
  for (let at = from; at < to; at++) bits |= digitAt(at)
  return bits < 16
}

/** The digits with 0x in front; null if not all are digits. A copy, not a slice: a slice is slower to read and keeps its parent alive. */
export function hexOf(text: string, from: number, to: number): string | null {
  if (from < 2 || !isHex(text, from, to)) return null
  const before = bytes.readUInt16BE(from - 2)
  bytes.writeUInt16BE(PREFIX, from - 2)
  const own = bytes.toString('latin1', from - 2, to)
  bytes.writeUInt16BE(before, from - 2)
  return own
}

/** How many times `character` repeats at the start of the range. */
export function leading(text: string, from: number, to: number, character: string): number {
  load(text)
  if (!isPlain) return 0
  const code = character.charCodeAt(0)
  let at = from
  while (at < to && bytes[at] === code) at++
  return at - from
}

/** The number in a word's 64 digits; null if they are not digits. */
export function wordNumber(text: string, at: number): bigint | null {
  load(text)
  if (!isPlain || at + WORD > text.length) return null
  // Few numbers need more than the lower half.
  if (halfIs(at, FOUR_ZEROS)) return halfNumber(at + HALF)
  return isHex(text, at, at + WORD) ? BigInt(`0x${text.slice(at, at + WORD)}`) : null
}

/** The same in two's complement. */
export function signedWordNumber(text: string, at: number): bigint | null {
  load(text)
  if (!isPlain || at + WORD > text.length || !halfIs(at, FOUR_FS)) {
    const value = wordNumber(text, at)
    return value === null ? null : BigInt.asIntN(256, value)
  }
  const low = halfNumber(at + HALF)
  return low === null ? null : low - TWO_TO_128
}

function halfIs(from: number, four: number): boolean {
  for (let at = from; at < from + HALF; at += 4) if (view.getInt32(at) !== four) return false
  return true
}

function halfNumber(at: number): bigint | null {
  const highest = eight(at)
  const high = eight(at + 8)
  const middle = eight(at + 16)
  const low = eight(at + 24)
  if (highest < 0 || high < 0 || middle < 0 || low < 0) return null
  limbs[0] = low
  limbs[1] = middle
  const lower = numbers[0] ?? 0n
  if (highest === 0 && high === 0) return lower
  limbs[2] = high
  limbs[3] = highest
  return ((numbers[1] ?? 0n) << 64n) | lower
}

/** Eight digits as a number; negative if not all are digits. */
function eight(from: number): number {
  if (view.getInt32(from) === FOUR_ZEROS && view.getInt32(from + 4) === FOUR_ZEROS) return 0
  let value = 0
  let bits = 0
  for (let at = from; at < from + 8; at++) {
    const digit = digitAt(at)
    bits |= digit
    value = (value << 4) | (digit & 15)
  }
  return bits < 16 ? value >>> 0 : -1
}

const digitAt = (at: number): number => DIGIT[bytes[at] ?? 0] ?? 0xff
