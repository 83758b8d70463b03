/** Addresses that programs derive from seeds (solana.com/docs, "Program derived address"): a hash of the seeds, a bump, the program and a constant text. */
import { sha256 } from '@noble/hashes/sha256'
import { Malformed } from '../decode-errors.js'
import { decodeBase58, encodeBase58 } from './base58.js'
import { isOnCurve } from './ed25519.js'

const MARKER = new TextEncoder().encode('ProgramDerivedAddress')
const KEY_BYTES = 32
const BUMPS = 256

/** Whether the address comes from these keys with any bump; what is no key derives nothing. */
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

/** The address itself: of the first bump from above whose hash is nobody's public key. Null: the program is no key, or no bump will do. */
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

/** Null: it is no key. */
export function keyBytes(address: string): Uint8Array | null {
  try {
    const bytes = decodeBase58(address)
    return bytes.length === KEY_BYTES ? bytes : null
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}
