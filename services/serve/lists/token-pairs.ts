import type { PairState } from '../memory/served-chain.js'
import { dayVolumeUsd } from '../memory/windows.js'
import type { Market } from '../views/market-facts.js'
import { byText, createShortlist, descending } from '../views/ranking.js'

/** The pairs a token is in, as target or as quote: the deepest by TVL, then by volume of 24 hours. */
export function deepestPairs({ state }: Market, token: string, limit: number): PairState[] {
  const deepest = createShortlist<PairState>(limit, byDepth)
  for (const addresses of [state.targetPairs.of(token), state.quotePairs.of(token)]) {
    for (const address of addresses) {
      const pair = state.pairs.get(address)
      if (pair !== undefined) deepest.offer(pair)
    }
  }
  return deepest.items()
}

function byDepth(a: PairState, b: PairState): number {
  return (
    descending(a.tvl, b.tvl) || descending(dayVolumeUsd(a.windows), dayVolumeUsd(b.windows)) || byText(a.pair, b.pair)
  )
}

export function hasTraded({ state }: Market, token: string): boolean {
  const traded = (address: string) => (state.pairs.get(address)?.tx_count ?? 0) > 0
  return state.targetPairs.of(token).some(traded) || state.quotePairs.of(token).some(traded)
}
