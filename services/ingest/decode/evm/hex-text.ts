/**
 * Hexadecimal text in lower case, looked at as bytes: a byte of a buffer is read several times as quickly as a character of a text,
 * and numbers are most of what decoding does. The text looked at last stays in the buffer, since its words are read one after another.
 */

const encoder = new TextEncoder()
const FIRST_BYTES = 4096
/** Digits by their codes; everything else has high bits that no digit has. */
const DIGIT = new Uint8Array(256).fill(0xff)
for (let digit = 0; digit < 16; digit++) DIGIT[digit.toString(16).charCodeAt(0)] = digit

let bytes = new Uint8Array(FIRST_BYTES)
let shown = ''
/** Of `shown`; less than its length where a character is none of ASCII: nothing in it is told to be a digit then. */
let isPlain = true

const limbs = new Uint32Array(4)
const numbers = new BigUint64Array(limbs.buffer)

function show(text: string): void {
  if (text === shown) return
  if (text.length > bytes.length) bytes = new Uint8Array(text.length * 2)
  const { read, written } = encoder.encodeInto(text, bytes)
  isPlain = read === text.length && written === text.length
  shown = text
}

/** Whether all of it is there and digits. */
export function isHex(text: string, from: number, to: number): boolean {
  show(text)
  if (!isPlain || to > text.length) return false
  let bits = 0
  for (let at = from; at < to; at++) bits |= digitAt(at)
  return bits < 16
}

/** How many of these characters it begins with. */
export function leading(text: string, from: number, to: number, character: string): number {
  show(text)
  if (!isPlain) return 0
  const code = character.charCodeAt(0)
  let at = from
  while (at < to && bytes[at] === code) at++
  return at - from
}

/** Null: not digits, or fewer than that. */
export function hexNumber(text: string, from: number, to: number): bigint | null {
  show(text)
  if (!isPlain || to > text.length) return null
  let first = from
  while (first < to && bytes[first] === ZERO) first++
  const digits = to - first
  if (digits > 32) return isHex(text, first, to) ? BigInt(`0x${text.slice(first, to)}`) : null
  const low = eight(Math.max(first, to - 8), to)
  if (digits <= 7) return low < 0 ? null : BigInt(low)
  const middle = eight(Math.max(first, to - 16), to - 8)
  const high = digits <= 16 ? 0 : eight(Math.max(first, to - 24), to - 16)
  const highest = digits <= 24 ? 0 : eight(first, to - 24)
  if (low < 0 || middle < 0 || high < 0 || highest < 0) return null
  limbs[0] = low
  limbs[1] = middle
  if (digits <= 16) return numbers[0] ?? 0n
  limbs[2] = high
  limbs[3] = highest
  return ((numbers[1] ?? 0n) << 64n) | (numbers[0] ?? 0n)
}

/** Up to eight digits; negative: not all are. */
function eight(from: number, to: number): number {
  let value = 0
  let bits = 0
  for (let at = from; at < to; at++) {
    const digit = digitAt(at)
    bits |= digit
    value = (value << 4) | (digit & 15)
  }
  return bits < 16 ? value >>> 0 : -1
}

const digitAt = (at: number): number => DIGIT[bytes[at] ?? 0] ?? 0xff

/** The first number that so many digits do not hold. */
export function powerOf16(digits: number): bigint {
  return POWERS[digits] ?? 1n << BigInt(digits * 4)
}

const ZERO = 48
const POWERS = Array.from({ length: 65 }, (_, digits) => 1n << BigInt(digits * 4))
