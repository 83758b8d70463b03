/** Base58 with Bitcoin's alphabet, as Solana writes keys, signatures and instruction data. Works in limbs: digit by digit takes as long as parsing the block. */
import { Malformed } from './malformed.js'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Four digits at a time: 58^4 × 2^24 stays below 2^53, what a number holds exactly. */
const DIGITS_PER_STEP = 4
const STEP = 58 ** DIGITS_PER_STEP
const LIMB_BITS = 24
const LIMB = 2 ** LIMB_BITS
const BAD = 255

const DIGIT_OF = new Uint8Array(128).fill(BAD)
for (let digit = 0; digit < ALPHABET.length; digit += 1) DIGIT_OF[ALPHABET.charCodeAt(digit)] = digit

/** The longest there is: the data of an instruction, in a transaction of 1,232 bytes; inner ones may have 10 KiB. */
const MAX_LETTERS = 16_384

/** Place in the text after its zeros, which stand for zero bytes. */
function zerosOf(text: string): number {
  let zeros = 0
  while (text.charCodeAt(zeros) === 49) zeros += 1
  return zeros
}

function digitAt(text: string, at: number): number {
  const digit = DIGIT_OF[text.charCodeAt(at)] ?? BAD
  if (digit === BAD) throw new Malformed(`"${text[at]}" is no base58 digit`)
  return digit
}

/** Whether all its letters are digits. */
export function isBase58(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if ((DIGIT_OF[text.charCodeAt(at)] ?? BAD) === BAD) return false
  return true
}

/** Of the number at hand, the lowest first: one for all, so that nothing is allocated but what is given. Doubles, as whole numbers would be turned into them. */
const LIMBS = new Float64Array(MAX_LETTERS)
/** Exact, as it is a power of two; dividing takes several times as long. */
const LIMB_INVERSE = 1 / LIMB

export function decodeBase58(text: string): Uint8Array {
  if (text.length > MAX_LETTERS) throw new Malformed(`${text.length} base58 digits`)
  const zeros = zerosOf(text)
  let length = 0
  let at = zeros
  while (at < text.length) {
    let scale = 1
    let carry = 0
    for (let n = 0; n < DIGITS_PER_STEP && at < text.length; n += 1, at += 1) {
      carry = carry * 58 + digitAt(text, at)
      scale *= 58
    }
    for (let limb = 0; limb < length; limb += 1) {
      const value = (LIMBS[limb] ?? 0) * scale + carry
      carry = Math.floor(value * LIMB_INVERSE)
      LIMBS[limb] = value - carry * LIMB
    }
    while (carry > 0) {
      const rest = Math.floor(carry * LIMB_INVERSE)
      LIMBS[length] = carry - rest * LIMB
      length += 1
      carry = rest
    }
  }
  return bytesOf(length, zeros)
}

function bytesOf(limbs: number, zeros: number): Uint8Array {
  const top = limbs === 0 ? 0 : (LIMBS[limbs - 1] ?? 0)
  const topBytes = top === 0 ? 0 : top < 0x100 ? 1 : top < 0x10000 ? 2 : 3
  const length = limbs === 0 ? 0 : (limbs - 1) * 3 + topBytes
  const bytes = new Uint8Array(zeros + length)
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
  if (bytes.length > MAX_LETTERS / 2) throw new Malformed(`${bytes.length} bytes`)
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  let length = 0
  for (let at = zeros; at < bytes.length; ) {
    let scale = 1
    let carry = 0
    for (let n = 0; n < 3 && at < bytes.length; n += 1, at += 1) {
      carry = carry * 256 + (bytes[at] ?? 0)
      scale *= 256
    }
    for (let limb = 0; limb < length; limb += 1) {
      const value = (LIMBS[limb] ?? 0) * scale + carry
      carry = Math.floor(value / STEP)
      LIMBS[limb] = value - carry * STEP
    }
    while (carry > 0) {
      LIMBS[length] = carry % STEP
      length += 1
      carry = Math.floor(carry / STEP)
    }
  }
  return '1'.repeat(zeros) + digitsOf(length)
}

const CODES = new Uint8Array(MAX_LETTERS)

function digitsOf(limbs: number): string {
  let at = CODES.length
  for (let place = 0; place < limbs; place += 1) {
    const isTop = place === limbs - 1
    let limb = LIMBS[place] ?? 0
    for (let n = 0; isTop ? limb > 0 : n < DIGITS_PER_STEP; n += 1) {
      at -= 1
      CODES[at] = ALPHABET.charCodeAt(limb % 58)
      limb = Math.floor(limb / 58)
    }
  }
  return String.fromCharCode.apply(null, CODES.subarray(at) as unknown as number[])
}
