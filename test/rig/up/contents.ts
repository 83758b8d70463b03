/** Reads the data directory of a stopped process: every row with FINAL, every update and dead letter of the log. */
import { join } from 'node:path'
import type { BlockUpdate, DeadLetter } from '../../../services/core/domain/records.js'
import { type Codec, createCodec } from '../../../services/core/log/codec.js'
import { openEmbedded } from '../../../services/core/log/embedded-log.js'
import { createAssembler } from '../../../services/core/log/parts.js'
import { blocksTopic, deadTopic, type EventLog, updatesTopic } from '../../../services/core/log/port.js'
import { openStore, type StoreTarget } from '../../../services/core/store/clickhouse-store.js'
import type { Store } from '../../../services/core/store/port.js'
import type { TableName } from '../../../services/core/store/tables.js'
import { storeTargetOf } from '../engine.js'
import { SORT_KEYS } from '../sort-keys.js'

export type Row = Record<string, unknown>
/** Rows by their sort key, tables by name. */
export type Rows = Record<TableName, Map<string, Row>>

/** More than any test writes; the store's default limit is for interactive use. */
const LIMITS = { maxRows: 5_000_000, maxSeconds: 60 }

export const readRows = (dataDir: string): Promise<Rows> => readRowsIn(storeTargetOf(dataDir))

/** The engine allows one directory per process, so this closes it before resolving. */
export async function readRowsIn(target: StoreTarget): Promise<Rows> {
  const store = await openStore(target)
  try {
    const rows: Partial<Rows> = {}
    for (const [table, key] of Object.entries(SORT_KEYS) as [TableName, readonly string[]][]) {
      const sql = `SELECT * FROM ${table} FINAL ORDER BY ${key.join(', ')}`
      rows[table] = byKey(table, key, await store.query<Row>(sql, {}, LIMITS))
    }
    await checkWalletRows(store)
    return rows as Rows
  } finally {
    await store.close()
  }
}

/** Trades by wallet are the trades that count, whatever was written, replayed and orphaned. */
async function checkWalletRows(store: Store): Promise<void> {
  const columns = 'chain, wallet, time, block_number, tx_index, log_index, sub, pair, id, tx_hash'
  const sumOf = (from: string) => `(SELECT (count(), sum(cityHash64(${columns}))) FROM ${from})`
  const [row] = await store.query<{ trades: unknown; by_wallet: unknown }>(
    `SELECT toString(${sumOf("trade_rows FINAL WHERE wallet != ''")}) AS trades, toString(${sumOf('wallet_trades')}) AS by_wallet`,
    {},
    LIMITS,
  )
  if (row?.trades !== row?.by_wallet) throw new Error(`trades ${row?.trades}, by wallet ${row?.by_wallet}`)
}

function byKey(table: TableName, key: readonly string[], rows: readonly Row[]): Map<string, Row> {
  const found = new Map(rows.map((row) => [key.map((column) => String(row[column])).join(' '), withState(row)]))
  if (found.size !== rows.length) throw new Error(`${table} has rows of the same sort key under FINAL`)
  return found
}

/** Parses the JSON text, so that a difference names its field. */
function withState(row: Row): Row {
  return typeof row.state === 'string' && row.state !== '' ? { ...row, state: JSON.parse(row.state) } : row
}

/** Updates as on the log with their parts joined; duplicates are kept. */
export function readUpdates(dataDir: string, chain: string): Promise<BlockUpdate[]> {
  return withLog(dataDir, (opened) => updatesIn(opened, chain))
}

export const updatesIn = (opened: OpenedLog, chain: string): Promise<BlockUpdate[]> =>
  readTopic(opened, updatesTopic(chain), (record) => (record.kind === 'update' ? record.update : undefined))

/** Records of a chain's blocks topic in order, as `block <hash>` or `retract <from> <to>`. */
export const blockNamesIn = (opened: OpenedLog, chain: string): Promise<string[]> =>
  readTopic(opened, blocksTopic(chain), (record) => {
    if (record.kind === 'block') return `block ${record.block.hash}`
    return record.kind === 'retract' ? `retract ${record.retract.from_hash} ${record.retract.to_hash}` : undefined
  })

export const deadLettersIn = (opened: OpenedLog, chain: string): Promise<DeadLetter[]> =>
  readTopic(opened, deadTopic(chain), (record) => (record.kind === 'dead' ? record.dead : undefined))

/** Number of records that ingest has published, over all chains. */
export function publishedRecords(dataDir: string): Promise<number> {
  return withLog(dataDir, async ({ log }) =>
    (await log.topics())
      .filter(({ topic }) => topic.startsWith(blocksTopic('')))
      .reduce((sum, { end }) => sum + end, 0),
  )
}

export type OpenedLog = { log: EventLog; codec: Codec }

/** Opens the log of a data directory whose process has stopped. */
export async function withLog<T>(dataDir: string, use: (opened: OpenedLog) => Promise<T>): Promise<T> {
  const { log, registry } = openEmbedded({ path: join(dataDir, 'log') })
  try {
    return await use({ log, codec: createCodec(registry) })
  } finally {
    await log.close()
  }
}

type Whole = NonNullable<ReturnType<ReturnType<typeof createAssembler>['push']>>['record']

async function readTopic<T>(
  { log, codec }: OpenedLog,
  topic: string,
  pick: (record: Whole) => T | undefined,
): Promise<T[]> {
  const assembler = createAssembler()
  const found: T[] = []
  for (let from = 0; ; ) {
    const records = await log.read(topic, { from })
    if (records.length === 0) return found
    await codec.learn(records.map(({ value }) => value))
    for (const { value, offset } of records) {
      const whole = assembler.push(codec.decodeLogRecord(value, { topic, offset }), offset)
      const item = whole === undefined ? undefined : pick(whole.record)
      if (item !== undefined) found.push(item)
      from = offset + 1
    }
  }
}

export type Contents = { rows: Rows; updates: Map<string, BlockUpdate[]>; dead: Map<string, DeadLetter[]> }

export async function readContents(dataDir: string, chains: Iterable<string>): Promise<Contents> {
  const rows = await readRows(dataDir)
  return withLog(dataDir, (opened) => contentsOf(opened, rows, chains))
}

export async function contentsOf(opened: OpenedLog, rows: Rows, chains: Iterable<string>): Promise<Contents> {
  const contents: Contents = { rows, updates: new Map(), dead: new Map() }
  for (const chain of chains) {
    contents.updates.set(chain, await updatesIn(opened, chain))
    contents.dead.set(chain, await deadLettersIn(opened, chain))
  }
  return contents
}
