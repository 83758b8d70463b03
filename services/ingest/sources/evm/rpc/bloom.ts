/**
 * A block's bloom of its logs' addresses and topics (Ethereum's yellow paper, 4.4.3): three of 2048 bits for each, from
 * the first six bytes of its keccak. Bits are looked up in the hexadecimal text as received: most blooms are read only
 * a few times.
 */
import { keccak_256 } from '@noble/hashes/sha3'

/** Each bit's digit position in the text and its weight within the digit. */
export type BloomBits = readonly { place: number; weight: number }[]

const BLOOM = /^0x[0-9a-fA-F]{512}$/

export const isBloom = (value: unknown): value is string => typeof value === 'string' && BLOOM.test(value)

/** Of an address or a topic: 0x and whole bytes. */
export function bloomBits(item: string): BloomBits {
  const hash = keccak_256(Buffer.from(item.slice(2), 'hex'))
  return [0, 2, 4].map((first) => {
    const bit = (((hash[first] ?? 0) << 8) | (hash[first + 1] ?? 0)) & 2047
    const byte = 255 - (bit >> 3)
    return { place: 2 + byte * 2 + ((bit & 7) >= 4 ? 0 : 1), weight: 1 << (bit & 3) }
  })
}

export function isInBloom(bloom: string, bits: BloomBits): boolean {
  for (const { place, weight } of bits) if ((digit(bloom.charCodeAt(place)) & weight) === 0) return false
  return true
}

/** Share of set bits: a full bloom rules nothing out. */
export function fillShare(bloom: string): number {
  let set = 0
  for (let place = 2; place < bloom.length; place++) set += ONES[digit(bloom.charCodeAt(place))] ?? 0
  return set / 2048
}

const ONES = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4]

/** 0-9, then A-F and a-f, whose low three bits count from 1. */
const digit = (code: number): number => (code <= 57 ? code - 48 : (code & 7) + 9)

/** Caches the bits of recurring items: contract addresses and event topics. */
export function createBloomCache(maxItems = 50_000): (item: string) => BloomBits {
  const known = new Map<string, BloomBits>()
  return (item) => {
    let bits = known.get(item)
    if (bits === undefined) {
      if (known.size >= maxItems) known.clear()
      bits = bloomBits(item)
      known.set(item, bits)
    }
    return bits
  }
}
