/** What is compared of each table. */
import { TABLES, type TableName } from '../../core/store/tables.js'

export type ComparedTable = Exclude<TableName, 'progress_rows'>

/** As JSON or `readRows` have it. */
export type Row = readonly unknown[]

/** The columns that name a row: a table's sort key. */
export const KEYS: Record<ComparedTable, readonly string[]> = {
  trade_rows: ['pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub'],
  liquidity_rows: ['pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub'],
  candle_rows: ['pair', 'interval', 'time'],
  pair_rows: ['pair'],
  token_rows: ['token'],
  holder_rows: ['token', 'holder'],
  pair_hour_rows: ['pair', 'time'],
  holder_hour_rows: ['token', 'time'],
  main_pair_rows: ['token', 'block_number'],
}

export const COMPARED_TABLES = Object.keys(KEYS) as ComparedTable[]

export const isCompared = (table: TableName): table is ComparedTable => table in KEYS

export const columnsOf = (table: ComparedTable): readonly string[] => TABLES[table]

/** Where a row has its version, and whether it is a tombstone. */
export type Places = { key: readonly number[]; version: number; deleted: number }

export function placesOf(table: ComparedTable): Places {
  const at = (name: string) => columnsOf(table).indexOf(name)
  return { key: KEYS[table].map(at), version: at('version'), deleted: at('is_deleted') }
}

export const keyOf = (row: Row, { key }: Places): string => key.map((at) => String(row[at])).join(' ')
