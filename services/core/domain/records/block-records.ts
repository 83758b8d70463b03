// Generated from schemas/avro by `npm run generate`; a test fails when it differs.

/** A token's facts */
export interface TokenEvent {
  type: 'token'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  token: string
  name: string | null
  symbol: string | null
  /** null: could not be read, never guessed */
  decimals: number | null
  /** raw integer */
  total_supply: string | null
}

/** A pool is described */
export interface PoolEvent {
  type: 'pool'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  pool: string
  amm: string
  token0: string
  token1: string
  /** hundredths of a basis point */
  fee: number | null
  creator: string | null
}

/** The wallet's holdings around a swap, as the interface's `profile` carries them */
export interface Profile {
  token0TotalHolding: number
  token1TotalHolding: number
  token0Address: string
  token1Address: string
  solTotalHolding: number
  token0HasNewAccount: boolean
  token0HasClosedAccount: boolean
  token0HasClearedAccount: boolean
  token1HasNewAccount: boolean
  token1HasClosedAccount: boolean
  token1HasClearedAccount: boolean
}

/** A swap in one pool; amounts are raw integers */
export interface SwapEvent {
  type: 'swap'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  pool: string
  amm: string
  sender: string
  recipient: string
  wallet: string
  token_in: string
  amount_in: string
  token_out: string
  amount_out: string
  /** raw, after the swap; null: unknown */
  reserve0: string | null
  reserve1: string | null
  /** as the chain gives it: Q64.96 on EVM chains, Q64.64 on Solana */
  sqrt_price: string | null
  profile: Profile | null
}

export type LiquidityKind = 'create' | 'add' | 'remove'

/** Liquidity of a pool is created, added or removed */
export interface LiquidityEvent {
  type: 'liquidity'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  pool: string
  amm: string
  kind: LiquidityKind
  sender: string
  wallet: string
  amount0: string
  amount1: string
  reserve0: string | null
  reserve1: string | null
}

/** A holder's balance: a change (`delta`, may be negative) or, where the chain tells it, the whole (`balance`) */
export interface BalanceEvent {
  type: 'balance'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  token: string
  holder: string
  delta: string | null
  balance: string | null
}

export type LaunchStage = 'created' | 'curve' | 'graduated'

/** A token's way on a launch platform */
export interface LaunchEvent {
  type: 'launch'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  token: string
  platform: string
  stage: LaunchStage
  /** 0 to 1 */
  progress: number | null
  pool: string | null
}

/** What was learned about a token; null: nothing new */
export interface MetaEvent {
  type: 'meta'
  tx_index: number
  log_index: number
  /** tells apart several events of one log */
  sub: number
  tx_hash: string
  token: string
  total_supply: string | null
  owner: string | null
  /** risk facts, JSON object */
  risk: string | null
  logo_url: string | null
  /** JSON object: website, twitter, telegram … */
  links: string | null
  /** whether the balances of all holders are known from this block on */
  holders_complete: boolean | null
}

export type Event = TokenEvent | PoolEvent | SwapEvent | LiquidityEvent | BalanceEvent | LaunchEvent | MetaEvent

/** One block of a chain in chain order; a large one is split into parts 0 … last_part, each with its share of the events */
export interface Block {
  chain: string
  number: number
  hash: string
  parent_hash: string
  /** epoch seconds */
  time: number
  finalized_number: number
  part: number
  last_part: number
  /** sorted by (tx_index, log_index, sub) */
  events: Event[]
}

/** A reorg: the blocks above to_number are orphaned */
export interface Retract {
  chain: string
  from_number: number
  /** the tip it ends */
  from_hash: string
  to_number: number
  /** the block that stays */
  to_hash: string
}
