/** The rows that the sink writes of random histories. */
import type { Store } from '../../services/core/store/port.js'
import type { TableName } from '../../services/core/store/tables.js'
import { binaryRows } from '../rig/binary-rows.js'
import { row } from './rig.js'
import { type FoldedStep, type Made, PAIRS } from './trade-history.js'
import { storedColumns } from './updates.js'

export const versionOf = (seq: number) => 2 ** 40 + seq

/** Writes the sink's rows of these updates, without its progress. */
export async function storeRows(store: Store, chain: string, folded: readonly FoldedStep[]): Promise<void> {
  const rows = new Map<TableName, Record<string, unknown>[]>()
  const put = (table: TableName, values: Record<string, unknown>) =>
    rows.set(table, [...(rows.get(table) ?? []), { chain, is_deleted: 0, ...values }])
  const infos = new Map(PAIRS.map(({ pair, info }) => [pair, info]))
  for (const { update, made, orphaned } of folded) {
    const version = versionOf(update.seq)
    const placed = ({ pair, timeS, block, trade }: Made) => ({ ...trade, pair, time: timeS, block_number: block })
    for (const one of orphaned) put('trade_rows', { ...placed(one), sell: 0, version, is_deleted: 1 })
    if (update.kind === 'block')
      for (const one of made.filter(({ block }) => block === update.number))
        put('trade_rows', { ...placed(one), sell: one.trade.sell ? 1 : 0, version })
    for (const pair of update.pairs)
      put('pair_rows', { ...storedColumns({ ...pair, info: infos.get(pair.pair) ?? null }), version })
    for (const { pair, gone } of update.retracted) if (gone) put('pair_rows', { pair, version, is_deleted: 1 })
    for (const token of update.tokens) put('token_rows', { ...storedColumns(token), version })
  }
  for (const [table, values] of rows) await store.insertRows(table, binaryRows(table, values))
}

export async function storeProgress(store: Store, chain: string, { update }: FoldedStep): Promise<void> {
  const { epoch, seq, number, hash, now } = update
  const progress = { chain, epoch, seq, number, hash, now, version: versionOf(seq) }
  await store.insert('progress_rows', row('progress_rows', progress))
}
