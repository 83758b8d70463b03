/**
 * Keccak hashes by which contracts identify events, functions and keys. Signature hashes are computed once, when
 * modules load.
 */
import { keccak_256 } from '@noble/hashes/sha3'

/** topic0 of an event, such as `Sync(uint112,uint112)`. */
export function topicOf(signature: string): string {
  return `0x${hashOf(signature)}`
}

/** The first four bytes of a call, such as `token0()`. */
export function selectorOf(signature: string): string {
  return `0x${hashOf(signature).slice(0, 8)}`
}

/** Of bytes given as digits without `0x`. */
export function hashOfHex(digits: string): string {
  return `0x${Buffer.from(keccak_256(Buffer.from(digits, 'hex'))).toString('hex')}`
}

function hashOf(signature: string): string {
  return Buffer.from(keccak_256(new TextEncoder().encode(signature))).toString('hex')
}
