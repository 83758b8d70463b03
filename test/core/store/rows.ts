/** Rows for the store's tests, with defaults for columns that are not given. */
import { TABLES, type TableName } from '../../../services/core/store/tables.js'
import { binaryRows } from '../../rig/binary-rows.js'

const PLAIN: Record<string, unknown> = {
  ...{ chain: 'eth', pair: 'poolA', token: 'tokA', holder: 'alice', time: 1_760_000_000, block_number: 100 },
  ...{
    tx_index: 0,
    log_index: 0,
    sub: 0,
    tx_hash: '0xaa',
    id: '100-0',
    tx_seq: 1,
    sell: 0,
    sender: 's',
    recipient: 'r',
  },
  ...{
    wallet: 'w',
    amount_in: '0',
    amount_out: '0',
    amount0: '0',
    amount1: '0',
    flags: 0,
    quote_path: 'usdc',
    kind: 'add',
  },
  ...{ interval: 'k1', amm: 'univ2', token0: 'tokA', token1: 'usdc', target: 0, created_at: 1_750_000_000 },
  ...{
    created_block: 1,
    tx_count: 1,
    last_trade_at: 1_760_000_000,
    holders: 1,
    balance: '0',
    updated_at: 1_760_000_000,
  },
  ...{ version: 1, is_deleted: 0, epoch: 1, seq: 1, number: 1, hash: '0x1', now: 1_760_000_000 },
}

export function line(table: TableName, values: Record<string, unknown> = {}): string {
  return JSON.stringify(TABLES[table].map((column) => values[column] ?? PLAIN[column] ?? null))
}

/** As the sink inserts it. */
export function binaryLine(table: TableName, values: Record<string, unknown>): Uint8Array {
  return binaryRows(table, [{ ...PLAIN, ...values }])
}

export function lines(table: TableName, rows: Record<string, unknown>[]): string {
  return rows.map((values) => line(table, values)).join('\n')
}
