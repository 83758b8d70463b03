/**
 * Insert cost of column types: CPU-seconds and rows per second of JSONCompactEachRow into the embedded engine,
 * compared with the same table with plain text columns. `node dist/test/bench/column-types.js [rows] [name filter]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSession } from '../../services/core/store/embedded-engine.js'

type Column = [name: string, type: string]
type Shape = { columns: Column[]; orderBy: string; row: (n: number) => unknown[] }
type Candidate = {
  name: string
  types?: Record<string, string>
  insert?: Record<string, string | number>
  table?: string
  /** Text in front of the statement. */
  prefix?: string
  /** Converts a value to this candidate's type. */
  value?: (column: string, value: unknown) => unknown
}
type Measure = { name: string; rowsPerS: number; insertCpuS: number; mergeCpuS: number; bytesPerRow: number }

const ROWS = Number(process.argv[2] ?? 200_000)
const FILTER = process.argv[3] ?? ''
const BATCH_ROWS = 20_000
const ROUNDS = 3
const INSERT_BASE = { async_insert: 0, input_format_null_as_default: 1, input_format_parallel_parsing: 0 }
const PAIRS = 400
const WALLETS = 5_000
const START_S = 1_760_000_000

const hex = (seed: number, length: number) => {
  let text = ''
  for (let state = (seed + 1) * 2_654_435_761; text.length < length; state = (state * 48_271 + 11) % 2_147_483_647)
    text += Math.trunc(state).toString(16).padStart(8, '0').slice(-8)
  return `0x${text.slice(0, length)}`
}
const pairs = Array.from({ length: PAIRS }, (_, n) => hex(n, 40))
const wallets = Array.from({ length: WALLETS }, (_, n) => hex(n + 100_000, 40))
const pick = (list: string[], n: number) => list[(n * 7_919) % list.length] ?? ''

const FLOAT = 'Nullable(Float64)'
const floats = (names: string[]): Column[] => names.map((name) => [name, FLOAT])
const VERSION: Column[] = [
  ['version', 'UInt64'],
  ['is_deleted', 'UInt8'],
]

const trades: Shape = {
  columns: [
    ['chain', 'String'],
    ['pair', 'String'],
    ['time', 'DateTime'],
    ['block_number', 'UInt64'],
    ['tx_index', 'UInt32'],
    ['log_index', 'UInt32'],
    ['sub', 'UInt32'],
    ['tx_hash', 'String'],
    ['id', 'String'],
    ['tx_seq', 'UInt64'],
    ['sell', 'UInt8'],
    ...['sender', 'recipient', 'wallet', 'amount_in', 'amount_out', 'reserve0', 'reserve1'].map(
      (name): Column => [name, 'String'],
    ),
    ...floats(['price_usd', 'price_native', 'price_quote', 'quote_usd', 'quote_native', 'amount_usd', 'amount_native']),
    ['flags', 'UInt8'],
    ['quote_path', 'String'],
    ...VERSION,
  ],
  orderBy: 'chain, pair, time, block_number, tx_index, log_index, sub',
  row: (n) => {
    const block = 19_000_000 + Math.trunc(n / 100)
    const amount = (index: number) => `${(n * 7_919 * index + 1_000_003) % 999_983}${'000111222333444555'.slice(index)}`
    const price = (1 + ((n * 31) % 1_000) / 997) * 1.7e-3
    const floatsOfRow = [price, price / 3_100.25, price * 1.0002, 0.9998, 1 / 3_100.25, price * 1_234.5, price / 2.5]
    return [
      ...['eth', pick(pairs, n), START_S + Math.trunc(n / 100) * 12, block, n % 100, n % 100, 0, hex(n, 64)],
      ...[`${block}-${n % 100}`, Math.trunc(n / PAIRS) + 1, n % 2, pick(wallets, n + 1), pick(wallets, n + 2)],
      ...[
        pick(wallets, n),
        amount(1),
        amount(2),
        amount(3),
        amount(4),
        ...(n % 50 === 0 ? Array(7).fill(null) : floatsOfRow),
      ],
      ...[n % 50 === 0 ? 4 : 0, 'weth>usdc', 2 ** 40 + Math.trunc(n / 100), 0],
    ]
  },
}

const candles: Shape = {
  columns: [
    ['chain', 'String'],
    ['pair', 'String'],
    ['interval', 'String'],
    ['time', 'DateTime'],
    ...floats(
      ['u', 'm', 'r'].flatMap((c) => ['open', 'first', 'high', 'low', 'close', 'volume'].map((f) => `${f}_${c}`)),
    ),
    ...VERSION,
  ],
  orderBy: 'chain, pair, interval, time',
  row: (n) => {
    const interval = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080'][n % 10]
    const price = (1 + ((n * 31) % 1_000) / 997) * 1.7e-3
    const prices = [1, 3_100.25, 1.0002].flatMap((by) =>
      [1, 1.001, 1.002, 0.999, 1.0005, 812.25].map((f) => (price * f) / by),
    )
    return [
      'eth',
      pick(pairs, Math.trunc(n / 10)),
      interval,
      START_S + Math.trunc(n / 1_000) * 60,
      ...prices,
      2 ** 40 + n,
      0,
    ]
  },
}

const ADDRESSES = ['sender', 'recipient', 'wallet']
const AMOUNTS = ['amount_in', 'amount_out', 'reserve0', 'reserve1']
const LC = 'LowCardinality(String)'
const all = (names: readonly string[], type: string) => Object.fromEntries(names.map((name) => [name, type]))
const floatNames = (shape: Shape) => shape.columns.filter(([, type]) => type === FLOAT).map(([name]) => name)
const asInteger = (names: readonly string[]) => (column: string, value: unknown) =>
  names.includes(column) ? BigInt(String(value)).toString() : value

const NAN_TRADES = all(floatNames(trades), 'Float64 DEFAULT nan')
const LC_KEYS = { chain: LC, pair: LC, quote_path: LC }
const CHOSEN_TRADES = { ...NAN_TRADES, chain: LC, quote_path: LC }

const COMPACT = 'min_bytes_for_wide_part = 67108864'

const tradeCandidates: Candidate[] = [
  { name: 'text' },
  { name: 'LowCardinality chain', types: { chain: LC } },
  { name: 'LowCardinality chain pair quote_path', types: LC_KEYS },
  { name: 'LowCardinality + wallets', types: { ...LC_KEYS, ...all(ADDRESSES, LC) } },
  { name: 'wallets UInt256', types: all(ADDRESSES, 'UInt256'), value: asInteger(ADDRESSES) },
  { name: 'tx_hash UInt256', types: { tx_hash: 'UInt256' }, value: asInteger(['tx_hash']) },
  { name: 'wallets FixedString(42)', types: all(ADDRESSES, 'FixedString(42)') },
  { name: 'amounts UInt256', types: all(AMOUNTS, 'UInt256') },
  { name: 'NaN, not Nullable', types: NAN_TRADES },
  { name: 'time UInt32', types: { time: 'UInt32' } },
  { name: 'no id column', types: { id: 'String EPHEMERAL' } },
  { name: 'codec NONE', types: {}, table: "default_compression_codec = 'NONE'" },
  { name: 'codec ZSTD(1)', types: {}, table: "default_compression_codec = 'ZSTD(1)'" },
  { name: 'no optimize_on_insert', insert: { optimize_on_insert: 0 } },
  { name: 'parallel parsing', insert: { input_format_parallel_parsing: 1 } },
  { name: 'two settings as SET before it', prefix: 'SET max_threads = 2; SET optimize_on_insert = 1; ' },
  { name: 'compact parts to 64 MB', table: COMPACT },
  { name: 'NaN + LC chain quote_path', types: CHOSEN_TRADES },
  { name: 'chosen: … + compact parts', types: CHOSEN_TRADES, table: COMPACT },
  { name: 'chosen + LC pair', types: { ...NAN_TRADES, ...LC_KEYS }, table: COMPACT },
  {
    name: 'all integers, UInt256',
    types: { ...CHOSEN_TRADES, ...all([...ADDRESSES, ...AMOUNTS, 'tx_hash'], 'UInt256') },
    value: asInteger([...ADDRESSES, 'tx_hash']),
    table: COMPACT,
  },
]

const NAN_CANDLES = all(floatNames(candles), 'Float64 DEFAULT nan')
const candleCandidates: Candidate[] = [
  { name: 'text' },
  { name: 'NaN, not Nullable', types: NAN_CANDLES },
  { name: 'NaN + LC chain interval', types: { ...NAN_CANDLES, chain: LC, interval: LC } },
  { name: 'NaN + LC chain interval pair', types: { ...NAN_CANDLES, chain: LC, interval: LC, pair: LC } },
  { name: 'chosen: … + compact parts', types: { ...NAN_CANDLES, chain: LC, interval: LC }, table: COMPACT },
]

const path = mkdtempSync(join(tmpdir(), 'dextape-columns-'))
const { chdb: engine, close } = await openEngine()

async function openEngine() {
  const session = await openSession(path)
  return { chdb: session.chdb, close: () => session.close() }
}

const cpuS = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1e6
}

function batchesOf(shape: Shape, { value }: Candidate): string[] {
  const batches: string[] = []
  for (let from = 0; from < ROWS; from += BATCH_ROWS) {
    const lines: string[] = []
    for (let n = from; n < Math.min(ROWS, from + BATCH_ROWS); n++) {
      const row = shape.row(n)
      lines.push(JSON.stringify(value ? row.map((v, index) => value(shape.columns[index]?.[0] ?? '', v)) : row))
    }
    batches.push(lines.join('\n'))
  }
  return batches
}

async function measure(shape: Shape, candidate: Candidate): Promise<Measure> {
  const { name, types = {}, insert = {}, table, prefix = '' } = candidate
  const columns = shape.columns.map(([column, type]) => `${column} ${types[column] ?? type}`)
  await engine.queryAsync('DROP TABLE IF EXISTS t SYNC')
  await engine.queryAsync(`CREATE TABLE t (${columns.join(', ')}) ENGINE = ReplacingMergeTree(version, is_deleted)
    PARTITION BY toYYYYMM(toDateTime(time, 'UTC')) ORDER BY (${shape.orderBy}) ${table ? `SETTINGS ${table}` : ''}`)
  await engine.queryAsync('SYSTEM STOP MERGES t')
  const batches = batchesOf(shape, candidate)
  const names = shape.columns.map(([column]) => column).join(', ')
  const settings = Object.entries({ ...INSERT_BASE, ...insert }).map(([setting, v]) => `${setting} = ${v}`)
  const head = `${prefix}INSERT INTO t (${names}) SETTINGS ${settings.join(', ')} FORMAT JSONCompactEachRow`
  const before = process.cpuUsage()
  const startMs = performance.now()
  for (const lines of batches) await engine.queryAsync(`${head}\n${lines}`)
  const insertCpuS = cpuS(before)
  const seconds = (performance.now() - startMs) / 1_000
  const mergeFrom = process.cpuUsage()
  await engine.queryAsync('SYSTEM START MERGES t')
  await engine.queryAsync('OPTIMIZE TABLE t FINAL')
  const mergeCpuS = cpuS(mergeFrom)
  const size = await engine.queryAsync(`SELECT sum(bytes_on_disk) FROM system.parts WHERE table = 't' AND active`)
  return { name, rowsPerS: ROWS / seconds, insertCpuS, mergeCpuS, bytesPerRow: Number(size.text()) / ROWS }
}

/** Takes the best of several rounds with all candidates, since other load on the machine only adds time. */
async function compare(title: string, shape: Shape, candidates: Candidate[]): Promise<void> {
  const wanted = candidates.filter(({ name }) => name === 'text' || name.includes(FILTER))
  const best = new Map<string, Measure>()
  await measure(shape, { name: 'warm-up' })
  for (let round = 0; round < ROUNDS; round++)
    for (const candidate of wanted) {
      const found = await measure(shape, candidate)
      const known = best.get(found.name) ?? found
      best.set(found.name, {
        ...found,
        rowsPerS: Math.max(found.rowsPerS, known.rowsPerS),
        insertCpuS: Math.min(found.insertCpuS, known.insertCpuS),
        mergeCpuS: Math.min(found.mergeCpuS, known.mergeCpuS),
      })
    }
  console.log(`\n${title}, ${ROWS} rows, best of ${ROUNDS}`)
  console.log(`${'candidate'.padEnd(38)} rows/s   ×  CPU-s   ×  merge CPU-s   ×  B/row   ×`)
  const base = best.get('text')
  if (base === undefined) return
  const cell = (value: number, text: number, digits: number, width: number) =>
    `${value.toFixed(digits).padStart(width)} ${(value / text).toFixed(2)}`
  for (const found of best.values())
    console.log(
      found.name.padEnd(36),
      cell(found.rowsPerS, base.rowsPerS, 0, 8),
      cell(found.insertCpuS, base.insertCpuS, 2, 5),
      cell(found.mergeCpuS, base.mergeCpuS, 2, 8),
      cell(found.bytesPerRow, base.bytesPerRow, 0, 8),
    )
}

try {
  await compare('trade_rows', trades, tradeCandidates)
  await compare('candle_rows', candles, candleCandidates)
} finally {
  await close()
  rmSync(path, { recursive: true, force: true })
}
