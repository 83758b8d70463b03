// Generated from schemas/avro by `npm run generate`; a test fails when it differs.

import type { PackedCandles } from '../packed-candles.js'
import type { PackedWindows } from '../packed-windows.js'
import type { LiquidityKind, Profile } from './block-records.js'

export type UpdateKind = 'block' | 'retract'

/** What does not change with trades */
export interface PairInfo {
  amm: string
  token0: string
  token1: string
  /** 0 or 1: which token is the target */
  target: number
  fee: number | null
  creator: string | null
  created_at: number
  created_block: number
  /** raw supply of the pool's shares, where they are a token; null: unknown */
  share_supply: string | null
}

/** A swap as the fold valued it */
export interface Trade {
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  /** block number and in-block index */
  id: string
  /** position in the pair's trade order, from 1 */
  tx_seq: number
  /** it sells the target token */
  sell: boolean
  sender: string
  recipient: string
  wallet: string
  amount_in: string
  amount_out: string
  reserve0: string | null
  reserve1: string | null
  /** of the target, executed; NaN: unknown */
  price_usd: number
  price_native: number
  price_quote: number
  /** the quote's price before the event */
  quote_usd: number
  quote_native: number
  amount_usd: number
  amount_native: number
  /** 1 dust, 2 outlier, 4 unpriced */
  flags: number
  /** how the quote was priced */
  quote_path: string
  profile: Profile | null
}

/** A liquidity event as the fold valued it */
export interface LiquidityTrade {
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  id: string
  kind: LiquidityKind
  sender: string
  wallet: string
  amount0: string
  amount1: string
  reserve0: string | null
  reserve1: string | null
  amount_usd: number
  amount_native: number
  /** token0's USD price at the event; NaN: unknown */
  price0_usd: number
  price1_usd: number
}

/** A pair this block changed */
export interface PairUpdate {
  pair: string
  /** when the pair is new */
  info: PairInfo | null
  /** last good price; NaN: none */
  price_usd: number
  price_native: number
  price_quote: number
  /** the good price before this block */
  last_price_usd: number
  /** last good price before 00:00 UTC, else the first after; NaN: none */
  price_day_usd: number
  /** the quote's price at the block's end */
  quote_usd: number
  /** first good price ever */
  open_price_usd: number
  ath_usd: number
  reserve0: string | null
  reserve1: string | null
  init_reserve0: string | null
  init_reserve1: string | null
  /** USD; NaN: unknown */
  tvl: number
  /** quote side only */
  liquidity_usd: number
  liquidity_native: number
  tx_count: number
  first_trade_at: number
  first_trade_block: number
  last_trade_at: number
  updated_at: number
  /** 15m 1h 4h 24h, as of the minute of `now`; 1m and 5m, to the second, follow from the trades */
  windows: PackedWindows
  /** those this block changed */
  candles: PackedCandles
  trades: Trade[]
  liquidity: LiquidityTrade[]
}

/** A token's facts */
export interface TokenInfo {
  name: string | null
  symbol: string | null
  decimals: number | null
  /** raw */
  total_supply: string | null
  owner: string | null
  risk: string | null
  logo_url: string | null
  links: string | null
  created_at: number
  launch_platform: string | null
  launch_stage: string | null
  launch_progress: number
  launch_pool: string | null
  launch_at: number
  /** raw, held by addresses nobody has the keys of; null: no such balance is known */
  burnt_supply: string | null
  /** USD, of the first good trade in its first pool; null: unknown */
  launch_price: number | null
  /** epoch seconds since when the balances of all holders are known; null: not of all */
  holders_since: number | null
}

/** A token this block changed */
export interface TokenUpdate {
  token: string
  /** when new or changed */
  info: TokenInfo | null
  price_usd: number
  price_native: number
  main_pair: string | null
  /** sum of the known TVL of its pairs as target; NaN: none known */
  tvl: number
  holders: number
  updated_at: number
  /** empty: those of its main pair's entry in this update */
  windows: PackedWindows
}

/** A token's main pair changed */
export interface MainPairChange {
  token: string
  old_pair: string | null
  new_pair: string | null
}

/** Trades and liquidity of a pair that never were */
export interface RetractedPair {
  pair: string
  ids: string[]
  /** the pair itself is gone */
  gone: boolean
}

/** A pair as it is, with new windows */
export interface MovedPair {
  pair: string
  price_day_usd: number
  windows: PackedWindows
}

export interface MovedToken {
  token: string
  /** empty: those of its main pair's entry in this update */
  windows: PackedWindows
}

/** What one block (or one retract) changed, ready to serve. Candles and windows are packed: docs/topics.md has their layout */
export interface BlockUpdate {
  chain: string
  epoch: number
  seq: number
  kind: UpdateKind
  /** the head after it */
  number: number
  hash: string
  /** the head's time */
  time: number
  /** the highest block time so far */
  now: number
  finalized_number: number
  part: number
  last_part: number
  pairs: PairUpdate[]
  tokens: TokenUpdate[]
  main_pair_changes: MainPairChange[]
  retracted: RetractedPair[]
  /** tokens that only orphaned blocks had */
  gone_tokens: string[]
  /** pairs without an event whose windows lost a bucket as time passed */
  moved_pairs: MovedPair[]
  /** their tokens */
  moved_tokens: MovedToken[]
}
