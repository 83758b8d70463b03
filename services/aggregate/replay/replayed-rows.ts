/**
 * The rows of a replay. They have a higher version than the live ones, which would make them visible at once, so they are in a
 * database of their own with the same tables. Moving them links their files: nothing is copied.
 */
import type { ReplayLimits } from '../../core/coordination/replays.js'
import { createGate } from '../../core/runtime/gate.js'
import type { Store } from '../../core/store/port.js'
import { type Cell, type ReadCell, RowWriter, readRows } from '../../core/store/row-binary.js'
import { FILLED_TABLES, replayDatabase, TABLES, type TableName } from '../../core/store/tables.js'

export async function hasReplayedRows(store: Store, chain: string): Promise<boolean> {
  const name = replayDatabase(store.database, chain)
  return (await store.query('SELECT 1 FROM system.databases WHERE name = {name:String}', { name })).length > 0
}

/** Says that everything else is there, so it comes last. */
const LAST_MOVED = 'progress_rows'
const MOVED = [...Object.keys(TABLES).filter((table) => table !== LAST_MOVED), ...FILLED_TABLES]
/** Pushes of the chain wait for all of them. */
const MOVED_AT_ONCE = 3

/** May be repeated: rows that come twice count once, since they have the same key and version. */
export async function moveReplayedRows(store: Store, chain: string, isWanted: () => Promise<boolean>): Promise<void> {
  const from = replayDatabase(store.database, chain)
  const move = async (table: string) => {
    if (await isWanted()) await store.command(`ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${from}.${table}`)
  }
  const gate = createGate(MOVED_AT_ONCE)
  await Promise.all(MOVED.map((table) => gate(() => move(table))))
  await move(LAST_MOVED)
}

export async function dropReplayedRows(store: Store, chain: string): Promise<void> {
  await store.command(`DROP DATABASE IF EXISTS ${replayDatabase(store.database, chain)} SYNC`)
}

/** Tables whose rows belong to a pair, and those whose rows have a time. The others hold the last state of a token or holder. */
const BY_PAIR: ReadonlySet<TableName> = new Set([
  ...(['trade_rows', 'liquidity_rows', 'candle_rows', 'pair_rows', 'pair_hour_rows'] as const),
])
export const BY_TIME: ReadonlySet<TableName> = new Set([
  ...(['trade_rows', 'liquidity_rows', 'candle_rows', 'pair_hour_rows', 'holder_hour_rows'] as const),
  'main_pair_rows' as const,
])

/** A store that takes only the rows within the limits. How far the replay is, is always stored. */
export function limitedStore(store: Store, limits: ReplayLimits): Store {
  const pairs = limits.pairs === undefined ? undefined : new Set(limits.pairs)
  const { fromS = 0, toS = Number.POSITIVE_INFINITY } = limits

  function isWanted(table: TableName, row: readonly unknown[]): boolean {
    if (table === 'progress_rows') return true
    const columns: readonly string[] = TABLES[table]
    if (pairs !== undefined && !(BY_PAIR.has(table) && pairs.has(String(row[columns.indexOf('pair')])))) return false
    if (!BY_TIME.has(table)) return true
    const timeS = Number(row[columns.indexOf('time')])
    return timeS >= fromS && timeS <= toS
  }

  return {
    ...store,
    async insertRows(table, rows) {
      // In the engine's own form: text would turn unknown numbers of a list into 0.
      const writer = new RowWriter(table)
      let count = 0
      for (const row of readRows(table, rows)) {
        if (!isWanted(table, row)) continue
        writer.row(row.map(cellOf))
        count += 1
      }
      if (count > 0) await store.insertRows(table, writer.finish())
    },
  }
}

/** Null in a list is an unknown number. */
function cellOf(cell: ReadCell): Cell {
  return Array.isArray(cell) ? Float64Array.from(cell, (value) => value ?? Number.NaN) : (cell as Cell)
}
