/** Addresses that programs derive from seeds (solana.com/docs, "Program derived address"): a hash of the seeds, a bump, the program and a constant text. */
import { sha256 } from '@noble/hashes/sha256'
import { Malformed } from '../decode-errors.js'
import { decodeBase58, encodeBase58 } from './base58.js'

const MARKER = new TextEncoder().encode('ProgramDerivedAddress')
const KEY_BYTES = 32
const BUMPS = 256

/** Whether the address derives from these keys with any bump. False for an invalid key. */
export function isDerived(address: string, seeds: readonly string[], programId: string): boolean {
  const keys = [...seeds, programId].map(keyBytes)
  const bytes = new Uint8Array(KEY_BYTES * keys.length + 1 + MARKER.length)
  const bumpAt = seeds.length * KEY_BYTES
  for (const [place, key] of keys.entries()) {
    if (key === null) return false
    // The program's comes after the bump.
    bytes.set(key, place < seeds.length ? place * KEY_BYTES : bumpAt + 1)
  }
  bytes.set(MARKER, bumpAt + 1 + KEY_BYTES)
  for (let bump = BUMPS - 1; bump >= 0; bump -= 1) {
    bytes[bumpAt] = bump
    if (encodeBase58(sha256(bytes)) === address) return true
  }
  return false
}

/** The derived address: the first bump from 255 down whose hash is not a public key. Null: invalid program key, or no bump fits. */
export function derivedAddress(seeds: readonly Uint8Array[], programId: string): string | null {
  const program = keyBytes(programId)
  if (program === null) return null
  const bump = new Uint8Array(1)
  const parts = [...seeds, bump, program, MARKER]
  for (bump[0] = BUMPS - 1; ; bump[0] -= 1) {
    const hash = sha256(Buffer.concat(parts))
    if (!isOnCurve(hash)) return encodeBase58(hash)
    if (bump[0] === 0) return null
  }
}

/** Null: not a key. */
export function keyBytes(address: string): Uint8Array | null {
  try {
    const bytes = decodeBase58(address)
    return bytes.length === KEY_BYTES ? bytes : null
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}

const P = 2n ** 255n - 19n
/** The curve's d, -121665/121666. */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const Y_MASK = 2n ** 255n - 1n

/** Whether 32 bytes are a point of Solana's key curve (RFC 8032, 5.1.3). Derived addresses must not be, so that they have no private
 * key. True if x² = (y² - 1) / (d·y² + 1) has a root. The sign of x, the highest bit, is irrelevant; y may exceed p. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = littleEndian(bytes) & Y_MASK
  const ySquare = (y * y) % P
  const above = (ySquare + P - 1n) % P
  const below = (D * ySquare + 1n) % P
  // The quotient is a square if the product is: they differ by the square of the denominator.
  return euler((above * below) % P) <= 1n
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

/** To the power of (p - 1) / 2 = 2^254 - 10 = (2^250 - 1) · 16 + 6: 1 for a square, 0 for 0. */
function euler(base: bigint): bigint {
  return (squared(ones(base, 250), 4) * base ** 6n) % P
}

/** To the power of 2^bits - 1, which is that many ones in binary. */
function ones(base: bigint, bits: number): bigint {
  if (bits === 1) return base
  if (bits % 2 === 1) return (squared(ones(base, bits - 1), 1) * base) % P
  const half = ones(base, bits / 2)
  return (squared(half, bits / 2) * half) % P
}

function squared(base: bigint, times: number): bigint {
  let result = base
  for (let n = 0; n < times; n += 1) result = (result * result) % P
  return result
}
