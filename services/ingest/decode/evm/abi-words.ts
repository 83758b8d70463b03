/**
 * Words of the contract ABI (docs.soliditylang.org, "Contract ABI Specification") read from hexadecimal text: `body` is data without
 * its `0x`, a word is 32 bytes, 64 digits. Whatever does not fit its type is `Malformed`, never a number made up from it.
 */

export class Malformed extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'Malformed'
  }
}

const DIGITS = 64
const WORD = /^[0-9a-f]{64}$/
const LAST_DIGIT = /[0-9a-f]$/
const ADDRESS_WORD = /^0{24}[0-9a-f]{40}$/
/** More than any honest log or answer holds; a stranger's length must not become our memory. */
const MAX_ITEMS = 10_000

export function wordCount(body: string): number {
  return body.length / DIGITS
}

export function wordAt(body: string, index: number): string {
  const word = body.slice(index * DIGITS, (index + 1) * DIGITS)
  if (word.length !== DIGITS) throw new Malformed(`word ${index} is missing: there are ${body.length / 2} bytes`)
  return word
}

export function uintOf(word: string, bits: number): bigint {
  const value = numberOf(word)
  if (bits < 256 && value >> BigInt(bits) !== 0n) throw new Malformed(`0x${word} is no uint${bits}`)
  return value
}

export function intOf(word: string, bits: number): bigint {
  const value = BigInt.asIntN(256, numberOf(word))
  if (bits < 256 && BigInt.asIntN(bits, value) !== value) throw new Malformed(`0x${word} is no int${bits}`)
  return value
}

export function addressOf(word: string): string {
  if (!ADDRESS_WORD.test(word)) throw new Malformed(`0x${word} is no address`)
  return `0x${word.slice(24)}`
}

export function boolOf(word: string): boolean {
  const value = uintOf(word, 1)
  return value === 1n
}

export function bytes32Of(word: string): string {
  if (!WORD.test(word)) throw new Malformed(`0x${word} is no word`)
  return `0x${word}`
}

/** Dynamic `bytes` or `string` whose offset stands in word `index`: its bytes as digits, without `0x`. */
export function bytesOf(body: string, index: number): string {
  const { start, length } = tailOf(body, index)
  const digits = body.slice(start, start + length * 2)
  if (digits.length !== length * 2) throw new Malformed(`${length} bytes are promised, ${digits.length / 2} are there`)
  return digits
}

/** Items, a word each, of the dynamic array whose offset stands in word `index`. */
export function wordsOf(body: string, index: number): string[] {
  const { start, length } = tailOf(body, index)
  if (length > MAX_ITEMS) throw new Malformed(`an array of ${length} items`)
  const words = body.slice(start, start + length * DIGITS)
  if (words.length !== length * DIGITS)
    throw new Malformed(`${length} items are promised, ${wordCount(words)} are there`)
  return Array.from({ length }, (_, item) => wordAt(words, item))
}

/** Where the content of a dynamic value starts, in digits, and its length as it says. */
function tailOf(body: string, index: number): { start: number; length: number } {
  const offset = numberOf(wordAt(body, index)) * 2n
  if (offset > BigInt(body.length - DIGITS))
    throw new Malformed(`offset ${offset / 2n} lies outside ${body.length / 2} bytes`)
  const head = Number(offset)
  const length = numberOf(body.slice(head, head + DIGITS))
  if (length > BigInt(body.length)) throw new Malformed(`length ${length} lies outside ${body.length / 2} bytes`)
  return { start: head + DIGITS, length: Number(length) }
}

function numberOf(word: string): bigint {
  try {
    // BigInt takes blanks at the end, and less than a word.
    if (word.length === DIGITS && LAST_DIGIT.test(word)) return BigInt(`0x${word}`)
  } catch {
    // Not a number at all.
  }
  throw new Malformed(`0x${word} is no word`)
}
