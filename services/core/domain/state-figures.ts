/** The numbers of a pair's and of a token's entry in an update, in the order in which rows have them. */
import type { PairUpdate, TokenUpdate } from './records.js'

/** NaN: unknown. */
export const PAIR_AMOUNTS = [
  ...(['price_usd', 'price_native', 'price_quote', 'last_price_usd', 'price_day_usd', 'quote_usd'] as const),
  ...(['open_price_usd', 'ath_usd', 'tvl', 'liquidity_usd', 'liquidity_native'] as const),
] satisfies (keyof PairUpdate)[]

export const PAIR_FIGURES = [
  ...PAIR_AMOUNTS,
  ...(['tx_count', 'first_trade_at', 'first_trade_block', 'last_trade_at', 'updated_at'] as const),
] satisfies (keyof PairUpdate)[]

export const TOKEN_AMOUNTS = ['price_usd', 'price_native', 'tvl'] as const satisfies (keyof TokenUpdate)[]

export const TOKEN_FIGURES = [...TOKEN_AMOUNTS, ...(['holders', 'updated_at'] as const)] satisfies (keyof TokenUpdate)[]
