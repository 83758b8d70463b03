import type { PairState } from '../memory/chain-state.js'
import { dayVolumeUsd } from '../memory/windows.js'
import type { Market } from '../views/market.js'
import { byText, descending, firstOf } from './first.js'

/** All pairs a token is in, as target or as quote. */
export function* pairsOf({ state }: Market, token: string): Generator<PairState> {
  for (const addresses of [state.targetPairs.of(token), state.quotePairs.of(token)]) {
    for (const address of addresses) {
      const pair = state.pairs.get(address)
      if (pair !== undefined) yield pair
    }
  }
}

/** The deepest by TVL, then by volume of 24 hours. */
export function deepestPairs(market: Market, token: string, limit: number): PairState[] {
  return firstOf(
    pairsOf(market, token),
    limit,
    (a, b) =>
      descending(a.tvl, b.tvl) ||
      descending(dayVolumeUsd(a.windows), dayVolumeUsd(b.windows)) ||
      byText(a.pair, b.pair),
  )
}

export function hasTraded(market: Market, token: string): boolean {
  for (const pair of pairsOf(market, token)) if (pair.tx_count > 0) return true
  return false
}
