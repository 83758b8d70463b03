/** Compares what the store and the updates topic hold with the replay. */
import { createAssembler } from '../../core/log/parts.js'
import { updatesTopic } from '../../core/log/port.js'
import { type OpenLog, rawRecords } from '../../core/log/topic-records.js'
import type { Store } from '../../core/store/port.js'
import { readExpression } from '../../core/store/row-binary.js'
import { type StoredState, writtenNow } from '../../core/store/stored-states.js'
import {
  COMPARED_TABLES,
  type ComparedTable,
  columnsOf,
  KEYS,
  keyOf,
  type Places,
  placesOf,
  type Row,
} from './compared-tables.js'
import { fingerprintOf, type Refolded } from './refold.js'
import { hashOf, type KeyHash, type RowPrints } from './row-prints.js'

export type Finding = { what: string; compared: number; wrong: string[] }

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

/** Up to so many of a table's rows that differ are told column by column; the others are counted. */
const MOST_TOLD = 10_000

/**
 * Compares stored rows with the replayed ones, key by key and column by column. A running `up` keeps writing meanwhile: rows newer
 * than the end of the replay are skipped, and so are those they replaced. `version`: of the last replayed row.
 */
export async function verifyRows(
  store: Store,
  expected: Pick<Refolded, 'chain' | 'rows' | 'again'>,
  version: string,
  onCompared: (rows: number) => void,
): Promise<Finding[]> {
  const of = { chain: expected.chain, version }
  const found: Suspects[] = []
  let before = 0
  for (const table of COMPARED_TABLES) {
    const suspects = await findSuspects(store, expected.rows.of(table), table, of, (rows) => onCompared(before + rows))
    found.push(suspects)
    before += suspects.compared
  }
  await tellApart(found.filter(isSuspicious), expected)
  return found.map(({ table, compared, wrong }) => ({ what: table, compared, wrong }))
}

/** What seems to differ in a table, and then what does. */
type Suspects = {
  table: ComparedTable
  compared: number
  /** Stored rows by key that are not those of the replay. */
  stored: Map<string, Row>
  /** Hashes of keys that are not stored, by name. */
  missing: Set<string>
  /** Rows that are in neither, beyond MOST_TOLD. */
  more: number
  wrong: string[]
}

const isSuspicious = ({ stored, missing, more }: Suspects): boolean => stored.size + missing.size + more > 0

async function findSuspects(
  store: Store,
  prints: RowPrints,
  table: ComparedTable,
  of: Of,
  onRow: (rows: number) => void,
): Promise<Suspects> {
  const places = placesOf(table)
  const stored = new Map<string, Row>()
  let [compared, differing] = [0, 0]
  for await (const row of storedRows(store, table, of)) {
    compared += 1
    onRow(compared)
    if (prints.takes(row)) continue
    differing += 1
    if (stored.size < MOST_TOLD) stored.set(keyOf(row, places), row)
  }
  let more = differing - stored.size
  const missing = new Set<string>()
  const isNoneLeft = prints.left().next().done === true
  // Queried last, so that it includes rows replaced while the others were read.
  const newer = differing === 0 && isNoneLeft ? new Set() : await newerKeys(store, table, of)
  for (const key of stored.keys()) if (newer.has(nameOf(hashOf(key)))) stored.delete(key)
  for (const hash of prints.left()) {
    const name = nameOf(hash)
    if (newer.has(name)) continue
    if (missing.size < MOST_TOLD) missing.add(name)
    else more += 1
  }
  return { table, compared, stored, missing, more, wrong: [] }
}

const nameOf = ([high, low]: KeyHash): string => `${high} ${low}`

/** Compares what seems to differ with the rows of a second replay. */
async function tellApart(found: readonly Suspects[], { again }: Pick<Refolded, 'again'>): Promise<void> {
  if (found.length === 0) return
  const newest = new Map(found.map((suspects) => [suspects.table, new NewestRows(suspects)]))
  await again((table, row) => newest.get(table)?.add(row))
  for (const { table, stored, missing, more, wrong } of found) {
    const wanted = newest.get(table)?.rows ?? new Map<string, Row>()
    for (const [key, row] of stored) {
      const want = wanted.get(key)
      if (want === undefined) wrong.push(`${key}: stored, but not in the log`)
      else for (const difference of differences(key, columnsOf(table), row, want)) wrong.push(difference)
    }
    for (const key of wanted.keys()) {
      if (missing.has(nameOf(hashOf(key)))) wrong.push(`${key}: in the log, but not stored`)
    }
    if (more > 0) wrong.push(`${more} more rows`)
  }
}

/** As FINAL returns them: the highest version of each suspect's key, without tombstones. */
class NewestRows {
  private readonly newest = new Map<string, Row>()
  private readonly names: Set<string>
  private readonly places: Places

  constructor({ table, stored, missing }: Suspects) {
    this.places = placesOf(table)
    this.names = new Set([...[...stored.keys()].map((key) => nameOf(hashOf(key))), ...missing])
  }

  add(row: Row): void {
    const { places, newest } = this
    const key = keyOf(row, places)
    if (!this.names.has(nameOf(hashOf(key)))) return
    const known = newest.get(key)
    if (known === undefined || Number(known[places.version]) <= Number(row[places.version])) newest.set(key, row)
  }

  get rows(): Map<string, Row> {
    return new Map([...this.newest].filter(([, row]) => row[this.places.deleted] !== 1))
  }
}

type Of = { chain: string; version: string }

async function* storedRows(store: Store, table: ComparedTable, of: Of): AsyncGenerator<Row> {
  const columns = columnsOf(table)
  const { key } = placesOf(table)
  const hasState = table === 'pair_rows' || table === 'token_rows'
  const names = [...columns.map(readExpression), ...(hasState ? ['state'] : [])]
  const sorting = KEYS[table].map(readExpression)
  const placeholders = KEYS[table].map((name) => `{${name}:${KEY_TYPES[name] ?? 'String'}}`)
  const pageAfter = async (last?: Row): Promise<Row[]> => {
    const nextPage = last === undefined ? '' : `AND (${sorting.join(', ')}) > (${placeholders.join(', ')})`
    const after = last === undefined ? [] : KEYS[table].map((name, at) => [name, last[key[at] as number]])
    const page = await store.query<{ row: Row }>(
      `SELECT tuple(${names.join(', ')}) AS row FROM ${table} FINAL
       WHERE chain = {chain:String} AND version <= {version:UInt64} ${nextPage}
       ORDER BY ${sorting.join(', ')} LIMIT ${PAGE_ROWS}`,
      { ...of, ...Object.fromEntries(after) },
      LIMITS,
    )
    return page.map(({ row }) => (Array.isArray(row) ? (row as Row) : Object.values(row as object)))
  }
  let page = await pageAfter()
  while (page.length > 0) {
    // The engine reads the next page while this one is compared.
    const next = page.length < PAGE_ROWS ? undefined : pageAfter(page.at(-1))
    // A comparison that ends early must not leave its error unhandled.
    next?.catch(() => {})
    for (const row of page) yield asToday(table, row, columns)
    page = (await next) ?? []
  }
}

/** States of earlier versions in the columns of today; the last cell of such a row is their text. */
function asToday(table: ComparedTable, row: Row, columns: readonly string[]): Row {
  if (table !== 'pair_rows' && table !== 'token_rows') return row
  const cells = row.slice(0, -1)
  if (row.at(-1) === '') return cells
  const named = Object.fromEntries([...columns, 'state'].map((name, at) => [name, row[at]]))
  return writtenNow(table, named as StoredState) ?? cells
}

/** Of rows, including tombstones, written after the end of the replay: names of the hashes of their keys. */
async function newerKeys(store: Store, table: ComparedTable, of: Of): Promise<Set<string>> {
  const rows = await store.query<{ row: Row }>(
    `SELECT DISTINCT tuple(${KEYS[table].map(readExpression).join(', ')}) AS row FROM ${table}
     WHERE chain = {chain:String} AND version > {version:UInt64}`,
    of,
    { maxSeconds: 300, maxRows: 10_000_000 },
  )
  return new Set(rows.map(({ row }) => nameOf(hashOf(Object.values(row).map(String).join(' ')))))
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
export async function verifyUpdates(
  open: OpenLog,
  expected: Pick<Refolded, 'chain' | 'epoch' | 'seq' | 'updates'>,
  onSeq: (seq: number) => void,
): Promise<Finding> {
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
    onSeq(update.seq)
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
