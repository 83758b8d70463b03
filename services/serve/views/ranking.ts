/** The first items in an order, of as many as are offered, without sorting all of them. */
import type { TokenState } from '../memory/served-chain.js'
import { dayVolumeUsd } from '../memory/windows.js'
import { type Market, mainPairOf } from './market-facts.js'
import { tokenValueUsd } from './token-view.js'
export interface Shortlist<Item> {
  offer(item: Item): void
  items(): Item[]
}

export function createShortlist<Item>(limit: number, compare: (a: Item, b: Item) => number): Shortlist<Item> {
  const kept: Item[] = []
  let last: Item | undefined
  return {
    offer(item) {
      if (last !== undefined && compare(item, last) >= 0) return
      kept.push(item)
      if (kept.length < 2 * limit) return
      kept.sort(compare).length = limit
      last = kept[limit - 1]
    },
    items: () => kept.sort(compare).slice(0, limit),
  }
}

/** Higher first, unknown last. */
export function descending(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return b - a
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What a list is ordered by. */
export type TokenMeasure = (market: Market, token: TokenState) => number

/** The measures a request can name. */
export const TOKEN_MEASURES = {
  tx_volume_u_24h: (_market, token) => dayVolumeUsd(token.windows),
  market_cap: tokenValueUsd,
  fdv: tokenValueUsd,
  main_pair_tvl: (market, token) => mainPairOf(market, token)?.tvl ?? Number.NaN,
  created_at: (_market, token) => token.info.created_at,
} satisfies Record<string, TokenMeasure>

export type Ranked = { market: Market; token: TokenState; measure: number }

/** Higher first; equal ones by chain and address, so that an order is the same each time. */
export function byMeasure(a: Ranked, b: Ranked): number {
  return (
    descending(a.measure, b.measure) ||
    byText(a.market.state.chain, b.market.state.chain) ||
    byText(a.token.token, b.token.token)
  )
}
