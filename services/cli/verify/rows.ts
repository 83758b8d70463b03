/** Stored rows against the rows the fold gives, key by key and column by column. */
import type { Store } from '../../core/store/port.js'
import { TABLES, type TableName } from '../../core/store/tables.js'
import type { Refolded } from './refold.js'

export type Finding = { what: string; compared: number; wrong: string[] }

/** The columns that name a row: a table's sort key. */
const KEYS: Record<Exclude<TableName, 'progress_rows'>, readonly string[]> = {
  trade_rows: ['pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub'],
  liquidity_rows: ['pair', 'time', 'block_number', 'tx_index', 'log_index', 'sub'],
  candle_rows: ['pair', 'interval', 'time'],
  pair_rows: ['pair'],
  token_rows: ['token'],
  holder_rows: ['token', 'holder'],
  main_pair_rows: ['token', 'block_number'],
}
const TIMES = new Set(['time', 'created_at', 'last_trade_at', 'updated_at'])
const PAGE_ROWS = 50_000
const LIMITS = { maxSeconds: 300, maxRows: PAGE_ROWS }

type Row = readonly unknown[]

export async function verifyRows(store: Store, expected: Refolded): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const table of Object.keys(KEYS) as (keyof typeof KEYS)[])
    findings.push(await verifyTable(store, expected, table))
  return findings
}

async function verifyTable(store: Store, { chain, rows }: Refolded, table: keyof typeof KEYS): Promise<Finding> {
  const columns: readonly string[] = TABLES[table]
  const wanted = newestRows(
    rows.filter((insert) => insert.table === table).flatMap(({ lines }) => lines.split('\n')),
    columns,
    KEYS[table],
  )
  const wrong: string[] = []
  let compared = 0
  for await (const row of storedRows(store, table, columns, chain)) {
    compared += 1
    const key = keyOf(row, columns, KEYS[table])
    const want = wanted.get(key)
    wanted.delete(key)
    if (want === undefined) wrong.push(`${key}: stored, but not in the log`)
    else wrong.push(...differing(key, columns, row, want))
  }
  for (const key of wanted.keys()) wrong.push(`${key}: in the log, but not stored`)
  return { what: table, compared, wrong }
}

/** As the store's FINAL would leave them: the highest version of each key, tombstones away. */
function newestRows(lines: string[], columns: readonly string[], keys: readonly string[]): Map<string, Row> {
  const version = columns.indexOf('version')
  const deleted = columns.indexOf('is_deleted')
  const newest = new Map<string, Row>()
  for (const line of lines) {
    const row = JSON.parse(line) as Row
    const key = keyOf(row, columns, keys)
    const known = newest.get(key)
    if (known === undefined || Number(known[version]) <= Number(row[version])) newest.set(key, row)
  }
  for (const [key, row] of newest) if (row[deleted] === 1) newest.delete(key)
  return newest
}

async function* storedRows(
  store: Store,
  table: string,
  columns: readonly string[],
  chain: string,
): AsyncGenerator<Row> {
  const names = columns.map((name) => (TIMES.has(name) ? `toUInt32(${name})` : name))
  const sorting = KEYS[table as keyof typeof KEYS]
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const page = await store.query<{ row: Row }>(
      `SELECT tuple(${names.join(', ')}) AS row FROM ${table} FINAL WHERE chain = {chain:String}
       ORDER BY ${sorting.join(', ')} LIMIT ${PAGE_ROWS} OFFSET ${offset}`,
      { chain },
      LIMITS,
    )
    for (const { row } of page) yield Array.isArray(row) ? row : Object.values(row as object)
    if (page.length < PAGE_ROWS) return
  }
}

function keyOf(row: Row, columns: readonly string[], keys: readonly string[]): string {
  return keys.map((name) => String(row[columns.indexOf(name)])).join(' ')
}

function differing(key: string, columns: readonly string[], got: Row, want: Row): string[] {
  return columns.flatMap((name, at) =>
    same(got[at], want[at]) ? [] : [`${key} ${name}: stored ${String(got[at])}, the log gives ${String(want[at])}`],
  )
}

/** Unknown is null on the way in and NaN, an empty text or -1 in the store. */
function same(got: unknown, want: unknown): boolean {
  if (want === null) return got === null || got === '' || got === -1 || got === 0 || got === '0' || Number.isNaN(got)
  if (got === want || String(got) === String(want)) return true
  return typeof want === 'number' && Number(got) === want
}
