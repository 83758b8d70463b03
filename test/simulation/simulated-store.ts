/**
 * The store of a simulated cluster: ReplacingMergeTree tables in memory, and the few queries that aggregate and serve's memory
 * ask. An unknown statement fails the run: the simulation must not answer what it does not understand.
 */
import { CANDLE_FIGURES } from '../../services/core/domain/packed-candles.js'
import type { Store } from '../../services/core/store/port.js'
import { type ReadCell, readRows } from '../../services/core/store/row-binary.js'
import { TABLES, type TableName } from '../../services/core/store/tables.js'
import type { Random } from '../rig/market/random.js'
import { SORT_KEYS } from '../rig/sort-keys.js'
import type { SimulatedProcess } from './faults.js'

export type Row = Readonly<Record<string, ReadCell>>

/** What survives every process. */
export type StoreDisk = {
  insert(table: TableName, rows: readonly ReadCell[][]): void
  /** Without deleted ones, in the order of the table's key. */
  rows(table: TableName, where?: (row: Row) => boolean): Row[]
  remove(table: TableName, where: (row: Row) => boolean): void
}

export function createStoreDisk(): StoreDisk {
  const tables = new Map<TableName, Map<string, Row>>()
  const tableOf = (name: TableName): Map<string, Row> => {
    const known = tables.get(name) ?? new Map<string, Row>()
    tables.set(name, known)
    return known
  }
  return {
    insert(table, rows) {
      const kept = tableOf(table)
      for (const cells of rows) {
        const row = Object.fromEntries(TABLES[table].map((column, at) => [column, cells[at] ?? null]))
        const key = JSON.stringify(SORT_KEYS[table].map((column) => row[column]))
        const known = kept.get(key)
        if (known === undefined || Number(row.version) >= Number(known.version)) kept.set(key, row)
      }
    },
    rows: (table, where = () => true) =>
      [...tableOf(table).values()].filter((row) => row.is_deleted !== 1 && where(row)),
    remove(table, where) {
      const kept = tableOf(table)
      for (const [key, row] of kept) if (where(row)) kept.delete(key)
    },
  }
}

type Params = Record<string, unknown>
type Answer = (disk: StoreDisk, params: Params) => object[]

const compare = (a: ReadCell | undefined, b: ReadCell | undefined): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}
const by =
  (...columns: string[]) =>
  (a: Row, b: Row): number => {
    for (const column of columns) {
      const order = compare(a[column], b[column])
      if (order !== 0) return order
    }
    return 0
  }

const PLACE = ['block_number', 'tx_index', 'log_index', 'sub']
const ofPairs = ({ chain, pairs, version }: Params) => {
  const wanted = new Set(pairs as string[])
  return (row: Row) => row.chain === chain && wanted.has(String(row.pair)) && Number(row.version) <= Number(version)
}

function stateRows(kind: 'pair' | 'token'): Answer {
  return (disk, { chain, after }) =>
    disk
      .rows(`${kind}_rows`, (row) => row.chain === chain && String(row[kind]) > String(after))
      .sort(by(kind))
      .map((row) => ({ ...row, state: '' }))
}

const ANSWERS: readonly [statement: RegExp, answer: Answer][] = [
  [
    /^SELECT chain, epoch, seq, number, hash, now, final_now, finalized, version FROM progress_rows FINAL/,
    (disk) => disk.rows('progress_rows').map((row) => ({ ...row })),
  ],
  [/^SELECT pair AS pair, .*, state FROM pair_rows FINAL/, stateRows('pair')],
  [/^SELECT token AS token, .*, state FROM token_rows FINAL/, stateRows('token')],
  [
    /^SELECT pair, toUInt32\(max\(time\)\) AS time_s FROM trade_rows FINAL .*GROUP BY pair$/,
    (disk, params) => {
      const newest = new Map<string, number>()
      for (const row of disk.rows('trade_rows', ofPairs(params)))
        if (Number(row.time) >= Number(params.from))
          newest.set(String(row.pair), Math.max(newest.get(String(row.pair)) ?? 0, Number(row.time)))
      return [...newest].map(([pair, time_s]) => ({ pair, time_s }))
    },
  ],
  [
    /^SELECT pair, block_number, tx_index, log_index, sub, toUInt32\(time\) AS time_s, sell, wallet/,
    (disk, params) => {
      const after = {
        pair: params.pair,
        block_number: params.block,
        tx_index: params.tx,
        log_index: params.log,
        sub: params.sub,
      } as Row
      const order = by('pair', ...PLACE)
      return disk
        .rows('trade_rows', ofPairs(params))
        .filter((row) => Number(row.time) > Number(params.since))
        .filter((row) => order(row, { ...after, block_number: Number(after.block_number) }) > 0)
        .sort(order)
        .slice(0, Number(params.limit))
        .map((row) => ({ ...row, time_s: row.time }))
    },
  ],
  [
    /^SELECT pair, toUInt32\(max\(time\)\) AS time_s, argMax\(price_usd/,
    (disk, params) => {
      const last = new Map<string, Row>()
      const order = by('time', ...PLACE)
      for (const row of disk.rows('trade_rows', ofPairs(params))) {
        const isIn = Number(row.time) >= Number(params.from) && Number(row.time) <= Number(params.until)
        if (!isIn || row.flags !== 0 || row.price_usd === null) continue
        const known = last.get(String(row.pair))
        if (known === undefined || order(row, known) > 0) last.set(String(row.pair), row)
      }
      return [...last].map(([pair, { time, price_usd }]) => ({ pair, time_s: time, price: price_usd }))
    },
  ],
  [
    new RegExp(
      `^SELECT pair, interval, figures, is_deleted FROM \\( SELECT pair, interval, version, is_deleted, \\[${CANDLE_FIGURES.join(', ')}\\] AS figures FROM candle_rows PREWHERE .* ORDER BY pair, interval, version DESC LIMIT 1 BY pair, interval\\) WHERE version <= {version:UInt64} `,
    ),
    (disk, params) => {
      const buckets = new Set(params.buckets as string[])
      const order = by('pair', 'interval')
      const after = { pair: params.pair, interval: params.interval } as Row
      return disk
        .rows('candle_rows', (row) => row.chain === params.chain && buckets.has(`${row.interval}|${row.time}`))
        .filter((row) => Number(row.version) <= Number(params.version) && order(row, after) > 0)
        .sort(order)
        .slice(0, Number(params.limit))
        .map((row) => ({ ...row, figures: CANDLE_FIGURES.map((name) => row[name]) }))
    },
  ],
]

/** Some lists are in the statement itself. */
function paramsIn(sql: string, params: Params): Params {
  const [, list] = /\(interval, toUInt32\(time\)\) IN \(((?:\('\w+', \d+\),? ?)+)\)/.exec(sql) ?? []
  if (list === undefined) return params
  return { ...params, buckets: [...list.matchAll(/\('(\w+)', (\d+)\)/g)].map(([, name, time]) => `${name}|${time}`) }
}

export function openSimulatedStore(disk: StoreDisk, { ask }: SimulatedProcess): Store {
  function answer(sql: string, params: Params): object[] {
    const statement = sql.replaceAll(/\s+/g, ' ').trim()
    const known = ANSWERS.find(([pattern]) => pattern.test(statement))
    if (known === undefined) throw new Error(`the simulated store does not know the query ${statement}`)
    return known[1](disk, paramsIn(statement, params))
  }

  function change(sql: string, params: Params): void {
    const [, table, condition] = /^DELETE FROM (\w+) WHERE chain = \{chain:String\} AND (.*)$/.exec(sql) ?? []
    const ofChain = (row: Row) => row.chain === params.chain
    if (condition === 'version < {version:UInt64}')
      disk.remove(table as TableName, (row) => ofChain(row) && Number(row.version) < Number(params.version))
    else if (condition?.startsWith("interval = 's1' AND time <"))
      disk.remove(
        'candle_rows',
        (row) => ofChain(row) && row.interval === 's1' && Number(row.time) < Number(params.before),
      )
    else throw new Error(`the simulated store does not know the command ${sql}`)
  }

  const unasked = () => Promise.reject(new Error('the simulation asks for no such answer'))
  return {
    migrate: async () => [],
    insert: unasked,
    insertRows(table, given) {
      const rows = [...readRows(table, given)]
      return ask({
        part: 'store',
        apply: () => disk.insert(table, rows),
        applyPart: (random: Random) => disk.insert(table, rows.slice(0, random.int(0, rows.length))),
        canRepeat: true,
      })
    },
    query: <T>(sql: string, params: Params = {}) => ask({ part: 'store', apply: () => answer(sql, params) as T[] }),
    read: unasked,
    stream: unasked,
    database: 'simulated',
    command: (sql, params = {}) => ask({ part: 'store', apply: () => change(sql, params), canRepeat: true }),
    ping: async () => {},
    close: async () => {},
  }
}
