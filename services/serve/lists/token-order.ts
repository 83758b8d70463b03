import type { TokenState } from '../memory/chain-state.js'
import { dayVolumeUsd } from '../memory/windows.js'
import { type Market, mainPairOf } from '../views/market.js'
import { tokenValueUsd } from '../views/token-view.js'
import { byText, descending } from './first.js'

export type ListedToken = { market: Market; token: TokenState }

/** The measures lists can be ordered by, as the interface names them. */
export const TOKEN_MEASURES = {
  tx_volume_u_24h: ({ token }: ListedToken): number => dayVolumeUsd(token.windows),
  market_cap: ({ market, token }: ListedToken): number => tokenValueUsd(market, token),
  fdv: ({ market, token }: ListedToken): number => tokenValueUsd(market, token),
  main_pair_tvl: ({ market, token }: ListedToken): number => mainPairOf(market, token)?.tvl ?? Number.NaN,
  created_at: ({ token }: ListedToken): number => token.info.created_at,
} as const

export type Ranked = ListedToken & { measure: number }

/** Higher first; equal ones by chain and address, so that an order is the same each time. */
export function byMeasure(a: Ranked, b: Ranked): number {
  return (
    descending(a.measure, b.measure) ||
    byText(a.market.state.chain, b.market.state.chain) ||
    byText(a.token.token, b.token.token)
  )
}

export function* tokensOf(markets: readonly Market[]): Generator<ListedToken> {
  for (const market of markets) for (const token of market.state.tokens.values()) yield { market, token }
}
