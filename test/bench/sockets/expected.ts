/** Expected pushes of each subscription, from the updates alone: push numbers do not depend on subscribers. */

import { INTERVALS } from '../../../services/core/domain/chains.js'
import { unpackCandles } from '../../../services/core/domain/packed-candles.js'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import { type Place, placeOf } from './place.js'

export type Due = {
  /** By channel, ascending. */
  must: Map<string, Place[]>
  /** Optional pushes, which depend on the price before a retract. */
  may: Set<string>
}

type PairTokens = ReadonlyMap<string, readonly [string, string]>

/**
 * Takes a chain's updates in order and ignores replays of the same seq. `knownTokens`: of pairs that are older than the first update;
 * after a reorg a pool may have the address of one that is gone, with other tokens.
 */
export function createExpectation(chain: string, knownTokens: PairTokens, wanted: ReadonlySet<string>) {
  const tokensOf = new Map(knownTokens)
  const due: Due = { must: new Map(), may: new Set() }
  const mainPairs = new Map<string, string | null>()
  let lastSeq = -1

  function owe(channel: string, place: Place): void {
    if (!wanted.has(channel)) return
    const list = due.must.get(channel)
    if (list === undefined) due.must.set(channel, [place])
    else list.push(place)
  }

  function take(update: BlockUpdate): void {
    if (update.seq <= lastSeq) return
    lastSeq = update.seq
    for (const { token, main_pair } of update.tokens) mainPairs.set(token, main_pair)
    for (const { token, new_pair } of update.main_pair_changes) mainPairs.set(token, new_pair)
    let n = 0
    const next = (): Place => placeOf(update.seq, ++n)
    for (const { pair } of update.retracted) {
      const place = next()
      for (const channel of eventChannels(pair)) owe(channel, place)
    }
    const priced = new Set<string>()
    for (const entry of update.pairs) {
      if (entry.info !== null) tokensOf.set(entry.pair, [entry.info.token0, entry.info.token1])
      const tokens = tokensOf.get(entry.pair) ?? []
      const isRestored = update.kind === 'retract' && entry.candles.length > 0
      if (entry.trades.length > 0 || isRestored) priced.add(entry.pair)
      for (const _trade of entry.trades) {
        const place = next()
        owe(`tx|${entry.pair}|${chain}`, place)
        for (const token of tokens) owe(`multi_tx|${token}|${chain}`, place)
      }
      for (const _event of entry.liquidity) owe(`liq|${entry.pair}|${chain}`, next())
      for (const { interval } of unpackCandles(entry.candles)) owe(`kline|${entry.pair}|${interval}|${chain}`, next())
      const price = next()
      const owners = [entry.pair, ...tokens.filter((token) => mainPairs.get(token) === entry.pair)]
      for (const owner of owners) {
        if (entry.trades.length > 0) owe(`price|${owner}|${chain}`, price)
        else due.may.add(`price|${owner}|${chain}|${price}`)
      }
    }
    for (const { token, old_pair, new_pair } of update.main_pair_changes) {
      const place = next()
      if (new_pair === null) continue
      // The pair's own entry has told the price.
      if (!priced.has(new_pair)) owe(`price|${token}|${chain}`, place)
      if (old_pair === null) continue
      for (const pair of [old_pair, new_pair])
        for (const interval of INTERVALS) owe(`kline|${pair}|${interval}|${chain}`, place)
    }
  }

  function eventChannels(pair: string): string[] {
    const tokens = tokensOf.get(pair) ?? []
    return [`tx|${pair}|${chain}`, `liq|${pair}|${chain}`, ...tokens.map((token) => `multi_tx|${token}|${chain}`)]
  }

  return { take, due }
}

/** Channels named by a subscription's params, by chain. */
export function channelsOf(params: readonly unknown[]): Map<string, string[]> {
  const [topic, ...rest] = params as [string, ...unknown[]]
  const channels = new Map<string, string[]>()
  const add = (chain: string, channel: string) => channels.set(chain, [...(channels.get(chain) ?? []), channel])
  const kline = ([pair, interval, chain]: readonly unknown[]) =>
    add(String(chain), `kline|${pair}|${interval}|${chain}`)
  if (topic === 'kline') kline(rest)
  else if (topic === 'multi_kline') for (const series of rest) kline(series as unknown[])
  else if (topic === 'price') {
    for (const id of rest[0] as string[]) {
      const dash = id.lastIndexOf('-')
      add(id.slice(dash + 1), `price|${id.slice(0, dash)}|${id.slice(dash + 1)}`)
    }
  } else add(String(rest[1]), `${topic}|${rest[0]}|${rest[1]}`)
  return channels
}
