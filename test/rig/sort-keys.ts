/** The sorting keys of schemas/clickhouse: of rows with the same key the highest version counts. */
import type { TableName } from '../../services/core/store/tables.js'

const EVENT_KEY = ['chain', 'pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub']

export const SORT_KEYS: Record<TableName, readonly string[]> = {
  trade_rows: EVENT_KEY,
  liquidity_rows: EVENT_KEY,
  candle_rows: ['chain', 'pair', 'interval', 'time'],
  pair_rows: ['chain', 'pair'],
  token_rows: ['chain', 'token'],
  holder_rows: ['chain', 'token', 'holder'],
  pair_hour_rows: ['chain', 'pair', 'time'],
  holder_hour_rows: ['chain', 'token', 'time'],
  main_pair_rows: ['chain', 'token', 'block_number'],
  progress_rows: ['chain'],
}
