/** What differs between the live rows and those of a replay with limits, counted by the engine. */
import { BY_TIME } from '../../aggregate/replay/replayed-rows.js'
import type { Replay, ReplayLimits } from '../../core/coordination/replays.js'
import type { Store } from '../../core/store/port.js'
import { replayDatabase, SEQS, TABLES } from '../../core/store/tables.js'
import { COMPARED_TABLES, type ComparedTable, KEYS } from '../verify/compared-tables.js'

export type Compared = { table: string; compared: number; different: number; onlyLive: number; onlyReplayed: number }

const LIMITS = { maxSeconds: 0, maxRows: 10, maxBytes: 4_000_000_000 }

/** Rows that the live fold has changed after `seq` are left out. */
export async function compareReplayed(
  store: Store,
  chain: string,
  { limits = {} }: Replay,
  seq: number,
): Promise<Compared[]> {
  const beside = replayDatabase(store.database, chain)
  const compared: Compared[] = []
  for (const table of COMPARED_TABLES) {
    if (limits.pairs !== undefined && !KEYS[table].includes('pair')) continue
    const side = (from: string) =>
      `SELECT ${KEYS[table].join(', ')}, version AS v, sipHash64(${valuesOf(table).join(', ')}) AS h
       FROM ${from} FINAL WHERE chain = {chain:String} ${conditionOf(table, limits)}`
    const [row] = await store.query<Record<Exclude<keyof Compared, 'table'>, string>>(
      `SELECT count() AS compared, countIf(a.v != 0 AND b.v != 0 AND a.h != b.h) AS different,
         countIf(b.v = 0) AS onlyLive, countIf(a.v = 0) AS onlyReplayed
       FROM (${side(table)}) AS a FULL OUTER JOIN (${side(`${beside}.${table}`)}) AS b USING (${KEYS[table].join(', ')})
       WHERE a.v % ${SEQS} <= {seq:UInt64}`,
      { chain, seq, pairs: limits.pairs ?? [], from: limits.fromS ?? 0, to: limits.toS ?? 0 },
      LIMITS,
    )
    compared.push({
      table,
      compared: Number(row?.compared ?? 0),
      different: Number(row?.different ?? 0),
      ...{ onlyLive: Number(row?.onlyLive ?? 0), onlyReplayed: Number(row?.onlyReplayed ?? 0) },
    })
  }
  return compared
}

function valuesOf(table: ComparedTable): string[] {
  const others = new Set(['chain', 'version', 'is_deleted', ...KEYS[table]])
  return TABLES[table].filter((column) => !others.has(column))
}

function conditionOf(table: ComparedTable, { pairs, fromS, toS }: ReplayLimits): string {
  const hasTime = BY_TIME.has(table)
  return [
    pairs === undefined ? '' : 'AND pair IN {pairs:Array(String)}',
    hasTime && fromS !== undefined ? "AND time >= toDateTime({from:UInt32}, 'UTC')" : '',
    hasTime && toS !== undefined ? "AND time <= toDateTime({to:UInt32}, 'UTC')" : '',
  ].join(' ')
}
