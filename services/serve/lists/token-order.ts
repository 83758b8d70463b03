import type { TokenState } from '../memory/chain-state.js'
import { dayVolumeUsd } from '../memory/windows.js'
import { type Market, mainPairOf } from '../views/market.js'
import { tokenValueUsd } from '../views/token-view.js'
import { byText, descending } from './shortlist.js'

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
