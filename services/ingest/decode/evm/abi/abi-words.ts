/**
 * Words of the contract ABI (docs.soliditylang.org, "Contract ABI Specification") read from lower-case hexadecimal
 * text. A word is 32 bytes, 64 digits; `at` is the index of its first digit. What does not fit its type throws
 * `Malformed`; no number is guessed from it.
 */

export class Malformed extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'Malformed'
  }
}

const DIGITS = 64
const ADDRESS_DIGITS = 40
/** By bit width: the first number that does not fit a uint. */
const ABOVE_UINT = Array.from({ length: 256 }, (_, bits) => 1n << BigInt(bits))
/** More than any honest log or answer holds: an attacker's length field must not make us allocate. */
const MAX_ITEMS = 10_000

/** Position of word `index` in a text whose words begin at `start`. */
export function wordAt(text: string, start: number, index: number): number {
  const at = start + index * DIGITS
  if (at + DIGITS > text.length)
    throw new Malformed(`word ${index} is missing: there are ${Math.max(0, text.length - start) / 2} bytes`)
  return at
}

export function uintOf(text: string, at: number, bits: number): bigint {
  const value = numberOf(text, at)
  if (bits < 256 && value >= (ABOVE_UINT[bits] ?? 0n))
    throw new Malformed(`0x${wordText(text, at)} is not a uint${bits}`)
  return value
}

export function intOf(text: string, at: number, bits: number): bigint {
  const value = signedWordNumber(text, at)
  if (value === null) throw new Malformed(`0x${wordText(text, at)} is not a 32-byte word`)
  if (bits < 256 && BigInt.asIntN(bits, value) !== value)
    throw new Malformed(`0x${wordText(text, at)} is not an int${bits}`)
  return value
}

export function addressOf(text: string, at: number): string {
  const first = at + DIGITS - ADDRESS_DIGITS
  const address = leading(text, at, first, '0') < DIGITS - ADDRESS_DIGITS ? null : hexOf(text, first, at + DIGITS)
  if (address === null) throw new Malformed(`0x${wordText(text, at)} is not an address`)
  return address
}

/** The address at the end of a word, whatever is before it. */
export const addressAtEnd = (word: string): string => `0x${word.slice(-ADDRESS_DIGITS)}`.toLowerCase()

export function boolOf(text: string, at: number): boolean {
  return uintOf(text, at, 1) === 1n
}

export function bytes32Of(text: string, at: number): string {
  if (!isHex(text, at, at + DIGITS)) throw new Malformed(`0x${wordText(text, at)} is not a 32-byte word`)
  return `0x${text.slice(at, at + DIGITS)}`
}

/** Dynamic `bytes` or `string` whose offset is in word `index`: its bytes as digits, without `0x`. */
export function bytesOf(text: string, start: number, index: number): string {
  const { first, length } = tailOf(text, start, index)
  const digits = text.slice(first, first + length * 2)
  if (digits.length !== length * 2) throw new Malformed(`length is ${length} bytes, found ${digits.length / 2}`)
  return digits
}

/** Positions of the items, one word each, of the dynamic array whose offset is in word `index`. */
export function wordsOf(text: string, start: number, index: number): number[] {
  const { first, length } = tailOf(text, start, index)
  if (length > MAX_ITEMS) throw new Malformed(`array of ${length} items exceeds ${MAX_ITEMS}`)
  if (first + length * DIGITS > text.length)
    throw new Malformed(`length is ${length} items, found ${(text.length - first) / DIGITS}`)
  return Array.from({ length }, (_, item) => first + item * DIGITS)
}

/** Where the content of a dynamic value starts, and its declared length. */
function tailOf(text: string, start: number, index: number): { first: number; length: number } {
  const digits = text.length - start
  const offset = numberOf(text, wordAt(text, start, index)) * 2n
  if (offset > BigInt(digits - DIGITS))
    throw new Malformed(`offset ${offset / 2n} is outside the ${digits / 2} bytes of data`)
  const head = start + Number(offset)
  const length = numberOf(text, head)
  if (length > BigInt(digits)) throw new Malformed(`length ${length} is outside the ${digits / 2} bytes of data`)
  return { first: head + DIGITS, length: Number(length) }
}

function numberOf(text: string, at: number): bigint {
  const value = wordNumber(text, at)
  if (value === null) throw new Malformed(`0x${wordText(text, at)} is not a 32-byte word`)
  return value
}

const wordText = (text: string, at: number): string => text.slice(at, at + DIGITS)

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
function isHex(text: string, from: number, to: number): boolean {
  load(text)
  if (!isPlain || to > text.length) return false
  let bits = 0
  for (let at = from; at < to; at++) bits |= digitAt(at)
  return bits < 16
}

/** The digits with 0x in front; null if not all are digits. A copy, not a slice: a slice is slower to read and keeps its parent alive. */
function hexOf(text: string, from: number, to: number): string | null {
  if (from < 2 || !isHex(text, from, to)) return null
  const before = bytes.readUInt16BE(from - 2)
  bytes.writeUInt16BE(PREFIX, from - 2)
  const own = bytes.toString('latin1', from - 2, to)
  bytes.writeUInt16BE(before, from - 2)
  return own
}

/** How many times `character` repeats at the start of the range. */
function leading(text: string, from: number, to: number, character: string): number {
  load(text)
  if (!isPlain) return 0
  const code = character.charCodeAt(0)
  let at = from
  while (at < to && bytes[at] === code) at++
  return at - from
}

/** The number in a word's 64 digits; null if they are not digits. */
function wordNumber(text: string, at: number): bigint | null {
  load(text)
  if (!isPlain || at + WORD > text.length) return null
  // Few numbers need more than the lower half.
  if (halfIs(at, FOUR_ZEROS)) return halfNumber(at + HALF)
  return isHex(text, at, at + WORD) ? BigInt(`0x${text.slice(at, at + WORD)}`) : null
}

/** The same in two's complement. */
function signedWordNumber(text: string, at: number): bigint | null {
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
