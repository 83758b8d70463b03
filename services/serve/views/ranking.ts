import { dayVolumeUsd } from '../../core/domain/packed-windows.js'
import type { PairState, TokenState } from '../memory/served-chain.js'
import { type Market, mainPairOf } from './market-facts.js'
import { dilutedValueUsd, tokenValueUsd } from './token-view.js'

/** Keeps the first `limit` items of an order without sorting all of them. */
export interface Shortlist<Item> {
  /** False: the item would not be kept. */
  admits(item: Item): boolean
  offer(item: Item): void
  /** What comes after it is not kept; undefined while everything is. Falls behind by at most as many as the limit. */
  last(): Item | undefined
  /** Brings `last` up to date. */
  trim(): void
  items(): Item[]
}

export function createShortlist<Item>(limit: number, compare: (a: Item, b: Item) => number): Shortlist<Item> {
  const kept: Item[] = []
  let last: Item | undefined
  const admits = (item: Item): boolean => last === undefined || compare(item, last) < 0
  const trim = (): void => {
    if (kept.length < limit) return
    kept.sort(compare).length = limit
    last = kept[limit - 1]
  }
  return {
    admits,
    offer(item) {
      if (!admits(item)) return
      kept.push(item)
      if (kept.length >= 2 * limit) trim()
    },
    last: () => last,
    trim,
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

/** A value that lists sort by. */
export type TokenMeasure = (market: Market, token: TokenState) => number

/** The measures a request can sort by. */
export const TOKEN_MEASURES = {
  tx_volume_u_24h: (_market, token) => dayVolumeUsd(token.windows),
  market_cap: tokenValueUsd,
  fdv: dilutedValueUsd,
  main_pair_tvl: (market, token) => mainPairOf(market, token)?.tvl ?? Number.NaN,
  created_at: (_market, token) => token.info.created_at,
} satisfies Record<string, TokenMeasure>

export type Ranked = { market: Market; token: TokenState; measure: number }

/** Higher first; ties by chain and address, so that the order is stable. */
export function byMeasure(a: Ranked, b: Ranked): number {
  return (
    descending(a.measure, b.measure) ||
    byText(a.market.state.chain, b.market.state.chain) ||
    byText(a.token.token, b.token.token)
  )
}

/** The pairs of a token, as target or quote: by TVL, then by 24-hour volume. */
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
