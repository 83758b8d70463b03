/** A log filter in the forms its uses need: request parameters, checks of logs, and bloom bits. */
import type { LogFilter } from '../chain-reader.js'
import { type BloomBits, bloomBits, fillShare, isInBloom } from './bloom.js'

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
