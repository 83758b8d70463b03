import { CANDLE_FIGURES } from '../domain/packed-candles.js'
import { PAIR_FIGURES, TOKEN_FIGURES } from '../domain/state-figures.js'

/**
 * The columns of each table, in the order rows are inserted. Rows are absolute states: `version` = epoch × 2^40 + seq,
 * `is_deleted` = 1 for a tombstone. Unknown numbers are null on insert. The migrations in schemas/clickhouse create the tables.
 */
export const TABLES = {
  trade_rows: [
    ...['chain', 'pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub', 'tx_hash', 'id', 'tx_seq', 'sell'],
    ...['sender', 'recipient', 'wallet', 'amount_in', 'amount_out', 'reserve0', 'reserve1'],
    ...['price_usd', 'price_native', 'price_quote', 'quote_usd', 'quote_native', 'amount_usd', 'amount_native'],
    ...['flags', 'quote_path', 'version', 'is_deleted'],
  ],
  liquidity_rows: [
    ...['chain', 'pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub', 'tx_hash', 'id', 'kind', 'sender'],
    ...[
      'wallet',
      'amount0',
      'amount1',
      'reserve0',
      'reserve1',
      'amount_usd',
      'amount_native',
      'price0_usd',
      'price1_usd',
    ],
    ...['version', 'is_deleted'],
  ],
  candle_rows: ['chain', 'pair', 'interval', 'time', ...CANDLE_FIGURES, 'version', 'is_deleted'],
  /** The tokens' decimals are here so that one primary-key lookup is enough to value a pair's trades. */
  pair_rows: [
    ...['chain', 'pair', 'amm', 'token0', 'token1', 'target', 'decimals0', 'decimals1', 'fee', 'creator'],
    ...['created_at', 'created_block', 'share_supply', 'reserve0', 'reserve1', 'init_reserve0', 'init_reserve1'],
    ...[...PAIR_FIGURES, 'volume_24h', 'windows', 'version', 'is_deleted'],
  ],
  /** `main_price_usd`, `main_open_usd`: of its main pair, for its change. */
  token_rows: [
    ...['chain', 'token', 'name', 'symbol', 'decimals', 'total_supply', 'owner', 'risk', 'logo_url', 'links'],
    ...['created_at', 'launch_platform', 'launch_stage', 'launch_progress', 'launch_pool', 'launch_at'],
    ...['burnt_supply', 'launch_price', 'holders_since', 'main_pair', 'main_price_usd', 'main_open_usd'],
    ...[...TOKEN_FIGURES, 'volume_24h', 'windows', 'version', 'is_deleted'],
  ],
  holder_rows: ['chain', 'token', 'holder', 'balance', 'updated_at', 'version', 'is_deleted'],
  /** A pair at the end of an hour in which it had events. */
  pair_hour_rows: [
    ...['chain', 'pair', 'time', 'price_usd', 'tvl', 'liquidity_usd', 'supply', 'supply_left', 'version', 'is_deleted'],
  ],
  /** How many holders a token had at the end of an hour in which their number changed. */
  holder_hour_rows: ['chain', 'token', 'time', 'holders', 'version', 'is_deleted'],
  main_pair_rows: ['chain', 'token', 'block_number', 'time', 'old_pair', 'new_pair', 'version', 'is_deleted'],
  /** How far the sink has flushed a chain: one row per chain. `final_now`: the chain's now at its last final block. */
  progress_rows: ['chain', 'epoch', 'seq', 'number', 'hash', 'now', 'final_now', 'finalized', 'version'],
} as const

/** Filled by the engine from `trade_rows`, with every insert. */
export const FILLED_TABLES = ['wallet_trade_rows', 'orphaned_block_rows'] as const

export const REPLAY_MARK = '_replay_'

/** The database beside another with the rows of a chain's replay: the same tables. */
export const replayDatabase = (database: string, chain: string): string => `${database}${REPLAY_MARK}${chain}`

/** More than an epoch has. */
export const SEQS = 2 ** 40

/** A later epoch always wins. */
export const rowVersion = (epoch: number, seq: number): number => epoch * SEQS + seq

export function positionOf(version: number): { epoch: number; seq: number } {
  return { epoch: Math.floor(version / SEQS), seq: version % SEQS }
}

export type TableName = keyof typeof TABLES
