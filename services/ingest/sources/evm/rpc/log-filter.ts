/** A log filter in the forms its uses need: request parameters, checks of logs, and bloom bits. */
import { keccak_256 } from '@noble/hashes/sha3'
import type { LogFilter } from '../chain-reader.js'

export interface CompiledFilter {
  readonly addresses: readonly string[]
  /** The shared string for an address; undefined if the filter does not match it. */
  address(address: string): string | undefined
  topic(topic: string | undefined): string | undefined
  /** For `eth_getLogs`: any of these as topic0. */
  readonly topicParams: readonly (readonly string[])[]
  /** Whether a block with this bloom may have a matching log. */
  mayPass(bloom: string): boolean
  /** Probability that a block without a matching log looks as if it had one. */
  falseAlarm(bloom: string): number
}

const compiled = new WeakMap<LogFilter, CompiledFilter>()

export function compileFilter(filter: LogFilter): CompiledFilter {
  const known = compiled.get(filter)
  if (known !== undefined) return known
  const fresh = compile(filter)
  compiled.set(filter, fresh)
  return fresh
}

function compile(filter: LogFilter): CompiledFilter {
  const addresses = [...new Set(filter.addresses.map((address) => address.toLowerCase()))]
  const topics = [...new Set(filter.topics.map((topic) => topic.toLowerCase()))]
  const addressTexts = new Map(addresses.map((address) => [address, address]))
  const topicTexts = new Map(topics.map((topic) => [topic, topic]))
  const addressBits = addresses.map(bloomBits)
  const topicBits = topics.map(bloomBits)
  const anyIn = (bloom: string, all: readonly BloomBits[]) =>
    all.length === 0 || all.some((bits) => isInBloom(bloom, bits))
  return {
    addresses,
    address: (address) => (addresses.length === 0 ? address : addressTexts.get(address)),
    topic: (topic) => (topics.length === 0 ? (topic ?? '') : topic === undefined ? undefined : topicTexts.get(topic)),
    topicParams: topics.length === 0 ? [] : [topics],
    mayPass: (bloom) => anyIn(bloom, addressBits) && anyIn(bloom, topicBits),
    falseAlarm(bloom) {
      const one = fillShare(bloom) ** 3
      const any = (count: number) => (count === 0 ? 1 : 1 - (1 - one) ** count)
      return any(addresses.length) * any(topics.length)
    },
  }
}

/**
 * A block's bloom of its logs' addresses and topics (Ethereum's yellow paper, 4.4.3): three of 2048 bits for each, from
 * the first six bytes of its keccak. Bits are looked up in the hexadecimal text as received: most blooms are read only
 * a few times. Each bit has its digit's position in the text and its weight within the digit.
 */
type BloomBits = readonly { place: number; weight: number }[]

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
