/** Compares what the store and the updates topic hold with the replay. */
import { createAssembler } from '../../core/log/parts.js'
import { updatesTopic } from '../../core/log/port.js'
import { type OpenLog, rawRecords } from '../../core/log/topic-records.js'
import type { Store } from '../../core/store/port.js'
import { readExpression, readRows } from '../../core/store/row-binary.js'
import { type StoredState, writtenNow } from '../../core/store/stored-states.js'
import { TABLES, type TableName } from '../../core/store/tables.js'
import { fingerprintOf, type Refolded } from './refold.js'

export type Finding = { what: string; compared: number; wrong: string[] }

/** The columns that name a row: a table's sort key. */
export const KEYS: Record<Exclude<TableName, 'progress_rows'>, readonly string[]> = {
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
/** Key columns that are not text. */
const KEY_TYPES: Record<string, string> = {
  time: 'UInt32',
  block_number: 'UInt64',
  tx_index: 'UInt32',
  log_index: 'UInt32',
  sub: 'UInt32',
}
const PAGE_ROWS = 50_000
const LIMITS = { maxSeconds: 300, maxRows: PAGE_ROWS }

type Row = readonly unknown[]

/**
 * Compares stored rows with the replayed ones, key by key and column by column. A running `up` keeps writing meanwhile: rows newer
 * than the end of the replay are skipped, and so are those they replaced. `version`: of the last replayed row.
 */
export async function verifyRows(
  store: Store,
  expected: Refolded,
  version: string,
  onCompared: (rows: number) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  let before = 0
  for (const table of Object.keys(KEYS) as (keyof typeof KEYS)[]) {
    const onRow = (rows: number) => onCompared(before + rows)
    const finding = await verifyTable(store, expected, table, version, onRow)
    before += finding.compared
    findings.push(finding)
  }
  return findings
}

async function verifyTable(
  store: Store,
  { chain, rows }: Refolded,
  table: keyof typeof KEYS,
  version: string,
  onRow: (rows: number) => void,
): Promise<Finding> {
  const columns: readonly string[] = TABLES[table]
  const wanted = newestRows(
    rows.filter((insert) => insert.table === table).flatMap((insert) => [...readRows(table, insert.rows)]),
    columns,
    KEYS[table],
  )
  const candidates: { key: string; wrong: string[] }[] = []
  let compared = 0
  for await (const row of storedRows(store, table, columns, { chain, version })) {
    compared += 1
    onRow(compared)
    const key = keyOf(row, columns, KEYS[table])
    const want = wanted.get(key)
    wanted.delete(key)
    candidates.push({
      key,
      wrong: want === undefined ? [`${key}: stored, but not in the log`] : differences(key, columns, row, want),
    })
  }
  for (const key of wanted.keys()) candidates.push({ key, wrong: [`${key}: in the log, but not stored`] })
  const found = candidates.filter(({ wrong }) => wrong.length > 0)
  // Queried last, so that it includes rows replaced while the others were read.
  const newer = found.length === 0 ? new Set() : await newerKeys(store, table, { chain, version })
  return { what: table, compared, wrong: found.flatMap(({ key, wrong }) => (newer.has(key) ? [] : wrong)) }
}

/** As FINAL returns them: the highest version of each key, without tombstones. */
function newestRows(rows: readonly Row[], columns: readonly string[], keys: readonly string[]): Map<string, Row> {
  const version = columns.indexOf('version')
  const deleted = columns.indexOf('is_deleted')
  const newest = new Map<string, Row>()
  for (const row of rows) {
    const key = keyOf(row, columns, keys)
    const known = newest.get(key)
    if (known === undefined || Number(known[version]) <= Number(row[version])) newest.set(key, row)
  }
  for (const [key, row] of newest) if (row[deleted] === 1) newest.delete(key)
  return newest
}

type Of = { chain: string; version: string }

async function* storedRows(
  store: Store,
  table: keyof typeof KEYS,
  columns: readonly string[],
  of: Of,
): AsyncGenerator<Row> {
  const hasState = table === 'pair_rows' || table === 'token_rows'
  const names = [...columns.map(readExpression), ...(hasState ? ['state'] : [])]
  const sorting = KEYS[table].map(readExpression)
  const placeholders = KEYS[table].map((name) => `{${name}:${KEY_TYPES[name] ?? 'String'}}`)
  let after: Record<string, unknown> | undefined
  for (;;) {
    const nextPage = after === undefined ? '' : `AND (${sorting.join(', ')}) > (${placeholders.join(', ')})`
    const page = await store.query<{ row: Row }>(
      `SELECT tuple(${names.join(', ')}) AS row FROM ${table} FINAL
       WHERE chain = {chain:String} AND version <= {version:UInt64} ${nextPage}
       ORDER BY ${sorting.join(', ')} LIMIT ${PAGE_ROWS}`,
      { ...of, ...after },
      LIMITS,
    )
    const rows = page.map(({ row }) => (Array.isArray(row) ? (row as Row) : Object.values(row as object)))
    for (const row of rows) yield asToday(table, row, columns)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = Object.fromEntries(KEYS[table].map((name) => [name, last[columns.indexOf(name)]]))
  }
}

/** States of earlier versions in the columns of today; the last cell of such a row is their text. */
function asToday(table: keyof typeof KEYS, row: Row, columns: readonly string[]): Row {
  if (table !== 'pair_rows' && table !== 'token_rows') return row
  const cells = row.slice(0, -1)
  if (row.at(-1) === '') return cells
  const named = Object.fromEntries([...columns, 'state'].map((name, at) => [name, row[at]]))
  return writtenNow(table, named as StoredState) ?? cells
}

/** Keys of rows, including tombstones, written after the end of the replay. */
async function newerKeys(store: Store, table: keyof typeof KEYS, of: Of): Promise<Set<string>> {
  const rows = await store.query<{ row: Row }>(
    `SELECT DISTINCT tuple(${KEYS[table].map(readExpression).join(', ')}) AS row FROM ${table}
     WHERE chain = {chain:String} AND version > {version:UInt64}`,
    of,
    { maxSeconds: 300, maxRows: 10_000_000 },
  )
  return new Set(rows.map(({ row }) => Object.values(row).map(String).join(' ')))
}

function keyOf(row: Row, columns: readonly string[], keys: readonly string[]): string {
  return keys.map((name) => String(row[columns.indexOf(name)])).join(' ')
}

function differences(key: string, columns: readonly string[], got: Row, want: Row): string[] {
  return columns.flatMap((name, at) =>
    isSame(got[at], want[at]) ? [] : [`${key} ${name}: stored ${String(got[at])}, replayed ${String(want[at])}`],
  )
}

/** Null is NaN on both sides; large integers come as text. */
function isSame(got: unknown, want: unknown): boolean {
  if (got === want || String(got) === String(want)) return true
  return typeof want === 'number' && Number(got) === want
}

/**
 * Compares the updates topic with the replay: every seq in order, each with the same bytes. A process that was presumed dead may
 * have written some twice; readers drop those, and so does this.
 */
export async function verifyUpdates(open: OpenLog, expected: Refolded): Promise<Finding> {
  const topic = updatesTopic(expected.chain)
  const assembler = createAssembler()
  const wrong: string[] = []
  let compared = 0
  let before: number | undefined
  for await (const { value, offset } of rawRecords(open, topic, (await open.log.info(topic)).start)) {
    const whole = assembler.push(open.codec.decodeLogRecord(value, { topic, offset }), offset)
    if (whole?.record.kind !== 'update' || whole.record.update.epoch !== expected.epoch) continue
    const { update } = whole.record
    if (update.seq > expected.seq) continue
    if (before !== undefined && update.seq > before + 1) wrong.push(`seq ${update.seq} follows ${before}`)
    // An update of an earlier version says the same in another form: only its place in the order can be checked.
    const isComparable = open.codec.writtenAs(value) !== 'update'
    if (before === undefined || update.seq > before) {
      compared += isComparable ? 1 : 0
      before = update.seq
    }
    if (!isComparable) continue
    const print = fingerprintOf(open.codec.encodeUpdate(topic, { ...update, part: 0, last_part: 0 }))
    if (expected.updates.get(update.seq) !== print)
      wrong.push(`the update of seq ${update.seq} differs from the replay`)
  }
  return { what: 'updates', compared, wrong }
}
