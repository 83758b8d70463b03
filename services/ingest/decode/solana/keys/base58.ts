/** Base58 with Bitcoin's alphabet, as Solana writes keys, signatures and instruction data. Works in limbs: going digit by digit would take as long as parsing the block. */
import { Malformed } from '../decode-errors.js'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Four digits at a time: 58^4 × 2^24 stays below 2^53, what a number holds exactly. */
const DIGITS_PER_STEP = 4
const STEP = 58 ** DIGITS_PER_STEP
const LIMB_BITS = 24
const LIMB_BYTES = 3
const LIMB = 2 ** LIMB_BITS
const BAD = 255
const ZERO = ALPHABET.charCodeAt(0)

const DIGIT_OF = new Uint8Array(128).fill(BAD)
for (let digit = 0; digit < ALPHABET.length; digit += 1) DIGIT_OF[ALPHABET.charCodeAt(digit)] = digit

/** The longest input is instruction data: at most 1,232 bytes in a transaction, 10 KiB in inner instructions. */
const MAX_LETTERS = 16_384

/** Number of leading zeros, which encode zero bytes. */
function zerosOf(text: string): number {
  let zeros = 0
  while (text.charCodeAt(zeros) === 49) zeros += 1
  return zeros
}

function digitAt(text: string, at: number): number {
  const digit = DIGIT_OF[text.charCodeAt(at)] ?? BAD
  if (digit === BAD) throw new Malformed(`"${text[at]}" is not a base58 digit`)
  return digit
}

/** Whether all its letters are digits. */
export function isBase58(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if ((DIGIT_OF[text.charCodeAt(at)] ?? BAD) === BAD) return false
  return true
}

/** Limbs of the current number, lowest first. Shared, so that only results are allocated. Doubles, because integers would be converted. */
const LIMBS = new Float64Array(MAX_LETTERS)
/** Exact, as it is a power of two; dividing takes several times as long. */
const LIMB_INVERSE = 1 / LIMB
const STEP_INVERSE = 1 / STEP

export function decodeBase58(text: string): Uint8Array {
  if (text.length > MAX_LETTERS) throw new Malformed(`${text.length} base58 digits are too many`)
  const zeros = zerosOf(text)
  let length = 0
  let at = zeros
  // First the digits that do not fill a step: after them all steps are equal.
  const first = (text.length - zeros) % DIGITS_PER_STEP
  if (first > 0) {
    LIMBS[0] = numberAt(text, at, first)
    at += first
    length = 1
  }
  if ((text.length - at) % (2 * DIGITS_PER_STEP) > 0) {
    length = step(length, numberAt(text, at, DIGITS_PER_STEP))
    at += DIGITS_PER_STEP
  }
  for (; at < text.length; at += 2 * DIGITS_PER_STEP)
    length = twoSteps(
      length,
      numberAt(text, at, DIGITS_PER_STEP),
      numberAt(text, at + DIGITS_PER_STEP, DIGITS_PER_STEP),
    )
  while (length > 0 && LIMBS[length - 1] === 0) length -= 1
  return bytesOf(length, zeros)
}

function numberAt(text: string, start: number, digits: number): number {
  let number = 0
  for (let at = start; at < start + digits; at += 1) number = number * 58 + digitAt(text, at)
  return number
}

/** Multiplies by 58^4 and adds the new digits; returns the number of limbs. */
function step(length: number, digits: number): number {
  let carry = digits
  for (let limb = 0; limb < length; limb += 1) {
    const value = (LIMBS[limb] ?? 0) * STEP + carry
    carry = Math.floor(value * LIMB_INVERSE)
    LIMBS[limb] = value - carry * LIMB
  }
  // Less than 58^4, so less than a limb.
  LIMBS[length] = carry
  return length + 1
}

/** Two steps at once: neither waits for the other's carry. */
function twoSteps(length: number, first: number, second: number): number {
  let [carry, carry2] = [first, second]
  for (let limb = 0; limb < length; limb += 1) {
    const value = (LIMBS[limb] ?? 0) * STEP + carry
    carry = Math.floor(value * LIMB_INVERSE)
    const value2 = (value - carry * LIMB) * STEP + carry2
    carry2 = Math.floor(value2 * LIMB_INVERSE)
    LIMBS[limb] = value2 - carry2 * LIMB
  }
  const top = carry * STEP + carry2
  const rest = Math.floor(top * LIMB_INVERSE)
  LIMBS[length] = top - rest * LIMB
  LIMBS[length + 1] = rest
  return rest > 0 ? length + 2 : length + 1
}

/** Larger arrays get their own memory, which takes longer to allocate and free than to fill: they share a slab. */
const SMALL_BYTES = 64
const SLAB_BYTES = 2 ** 16
let slab = new Uint8Array(SLAB_BYTES)
let slabUsed = 0

/** Zeros. */
function roomFor(length: number): Uint8Array {
  if (length <= SMALL_BYTES) return new Uint8Array(length)
  if (slabUsed + length > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES)
    slabUsed = 0
  }
  slabUsed += length
  return slab.subarray(slabUsed - length, slabUsed)
}

function bytesOf(limbs: number, zeros: number): Uint8Array {
  const top = limbs === 0 ? 0 : (LIMBS[limbs - 1] ?? 0)
  const topBytes = top === 0 ? 0 : top < 0x100 ? 1 : top < 0x10000 ? 2 : 3
  const length = limbs === 0 ? 0 : (limbs - 1) * 3 + topBytes
  const bytes = roomFor(zeros + length)
  let at = bytes.length
  for (let limb = 0; limb < limbs; limb += 1) {
    const value = LIMBS[limb] ?? 0
    for (let shift = 0; shift < LIMB_BITS && at > zeros; shift += 8) {
      at -= 1
      bytes[at] = value >>> shift
    }
  }
  return bytes
}

/** Base 58^4 here. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > MAX_LETTERS / 2) throw new Malformed(`${bytes.length} bytes are too many for base58`)
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  let length = 0
  let at = zeros
  // As in decoding: first the bytes that do not fill a limb.
  for (let top = 0; (bytes.length - at) % LIMB_BYTES > 0; at += 1, length = 1) {
    top = top * 256 + (bytes[at] ?? 0)
    LIMBS[0] = top
  }
  for (; at < bytes.length; at += LIMB_BYTES)
    length = addLimb(length, ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0))
  const text = digitsOf(length)
  return zeros === 0 ? text : '1'.repeat(zeros) + text
}

/** Multiplies by 2^24 and adds the new bytes; returns the number of limbs. */
function addLimb(length: number, bytes: number): number {
  let carry = bytes
  for (let limb = 0; limb < length; limb += 1) {
    const value = (LIMBS[limb] ?? 0) * LIMB + carry
    // Off by at most one, because the inverse is not exact.
    carry = Math.floor(value * STEP_INVERSE)
    let rest = value - carry * STEP
    if (rest < 0) {
      carry -= 1
      rest += STEP
    } else if (rest >= STEP) {
      carry += 1
      rest -= STEP
    }
    LIMBS[limb] = rest
  }
  const rest = Math.floor(carry / STEP)
  LIMBS[length] = carry - rest * STEP
  LIMBS[length + 1] = rest
  return rest > 0 ? length + 2 : length + 1
}

const CODE_OF = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0))
const CODES = Buffer.alloc(MAX_LETTERS)

function digitsOf(limbs: number): string {
  let at = CODES.length
  for (let place = 0; place < limbs; place += 1) {
    let limb = (LIMBS[place] ?? 0) | 0
    for (let n = 0; n < DIGITS_PER_STEP; n += 1) {
      const next = (limb / 58) | 0
      at -= 1
      CODES[at] = CODE_OF[limb - next * 58] ?? 0
      limb = next
    }
  }
  while (at < CODES.length && CODES[at] === ZERO) at += 1
  return CODES.toString('latin1', at)
}
