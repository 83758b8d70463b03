/**
 * Words of the contract ABI (docs.soliditylang.org, "Contract ABI Specification") read from lower-case hexadecimal
 * text. A word is 32 bytes, 64 digits; `at` is the index of its first digit. What does not fit its type throws
 * `Malformed`; no number is guessed from it.
 */
import { hexOf, isHex, leading, signedWordNumber, wordNumber } from './hex-text.js'

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
