/**
 * Reading 300 candles and 100 swaps of a pair from the store: of a chain with a history of a year, compared with one of a day. A
 * process has one embedded engine, so both are in it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import type { Cell } from '../../services/core/store/row-binary.js'
import type { Order } from '../../services/serve/history/near-rows.js'
import { readStoredBars } from '../../services/serve/history/stored-candles.js'
import { readStoredEvents, TRADES } from '../../services/serve/history/stored-events.js'
import { createServedChain, PairState, putPair, type ServedChain } from '../../services/serve/memory/served-chain.js'
import { binaryRows } from '../rig/binary-rows.js'
import { createRandom } from '../rig/market/random.js'
import { pairInfo, pairUpdate } from '../serve/updates.js'
import { printTable } from './measure.js'
import { address } from './workload.js'

const PAIRS = 1
const DAY_MINUTES = 1440
const YEAR_MINUTES = 365 * DAY_MINUTES
const END_S = 1_735_689_600
const READS = 300
const CANDLES = 300
const SWAPS = 100
/** Inserted at once. */
const MINUTES_AT_ONCE = 30 * DAY_MINUTES
/** Of the candles of a chart; swaps are read with all their columns, and measured only. */
const LIMIT = 1.3

type History = { store: Store; state: ServedChain; minutes: number }
type Read = (history: History, pair: string, timeS: number) => Promise<number>

const READERS: readonly [name: string, rows: number, read: Read][] = [
  ['300 candles up to a time', CANDLES, (history, pair, timeS) => candles(history, pair, 0, timeS, 'latest')],
  ['300 candles from a time', CANDLES, (history, pair, timeS) => candles(history, pair, timeS, END_S, 'earliest')],
  ['100 swaps up to a time', SWAPS, (history, pair, toS) => swaps(history, pair, undefined, toS)],
  ['100 swaps from a time', SWAPS, (history, pair, fromS) => swaps(history, pair, fromS, undefined)],
]

export async function benchLongHistory(): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'dextape-history-'))
  const store = await openStore({ kind: 'embedded', path: dir })
  const rows: (string | number)[][] = []
  let most = 0
  try {
    await store.migrate()
    const histories = [await fill(store, 'day', DAY_MINUTES), await fill(store, 'year', YEAR_MINUTES)]
    for (const [name, count, read] of READERS) {
      const [day, year] = await timesOf(histories, count, read)
      const at = (times: readonly number[] | undefined, share: number) =>
        times?.[Math.floor(READS * share)] ?? Number.NaN
      const ratio = at(year, 0.99) / at(day, 0.99)
      if (count === CANDLES) most = Math.max(most, ratio)
      rows.push([name, at(day, 0.5), at(day, 0.99), at(year, 0.5), at(year, 0.99), ratio])
    }
  } finally {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
  printTable(`Reads from the store, ms (a trade a minute, ${READS} reads)`, [
    ['', 'day p50', 'day p99', 'year p50', 'year p99', 'year ÷ day p99'],
    ...rows,
  ])
  const isKept = most <= LIMIT
  console.log(`  year ÷ day p99 of candles at most ${most.toFixed(2)} (limit ${LIMIT})${isKept ? '' : '  TOO MUCH'}`)
  return isKept
}

/** In turns: the machine may be slower in one minute than in the next. */
async function timesOf(histories: readonly History[], count: number, read: Read): Promise<number[][]> {
  const random = createRandom(7)
  const times = histories.map(() => [] as number[])
  for (let round = -20; round < READS; round += 1) {
    for (const [at, history] of histories.entries()) {
      // Enough before and after it that every answer is full.
      const timeS = END_S - 60 * random.int(CANDLES + 1, history.minutes - CANDLES - 1)
      const started = performance.now()
      const found = await read(history, address('pool', random.int(0, PAIRS - 1)), timeS)
      if (found !== count) throw new Error(`expected ${count} rows; got ${found}`)
      if (round >= 0) times[at]?.push(performance.now() - started)
    }
  }
  return times.map((list) => list.sort((a, b) => a - b))
}

async function candles({ store, state }: History, pair: string, fromS: number, toS: number, order: Order) {
  const segments = [{ pair, fromS, toS }]
  return (await readStoredBars(store, state, { interval: 'k1', category: 'u' }, segments, order, CANDLES)).bars.length
}

async function swaps({ store, state }: History, pair: string, fromS: number | undefined, toS: number | undefined) {
  const sort = fromS === undefined ? 'desc' : 'asc'
  const query = { pair, limit: SWAPS, fromS, toS, sort, after: undefined } as const
  return (await readStoredEvents(store, state, query, TRADES)).events.length
}

async function fill(store: Store, chain: string, minutes: number): Promise<History> {
  const firstS = END_S - minutes * 60
  for (let done = 0; done < minutes; done += MINUTES_AT_ONCE) {
    const count = Math.min(MINUTES_AT_ONCE, minutes - done)
    await store.insertRows('candle_rows', binaryRows('candle_rows', rowsOf(chain, firstS + done * 60, count, candle)))
    await store.insertRows('trade_rows', binaryRows('trade_rows', rowsOf(chain, firstS + done * 60, count, trade)))
  }
  const state = createServedChain(chain)
  state.nowS = END_S
  for (let n = 0; n < PAIRS; n += 1) {
    const known = { first_trade_at: firstS, last_trade_at: END_S - 60, tx_count: minutes }
    putPair(state, PairState.of(pairUpdate({ pair: address('pool', n), ...known }), pairInfo(), END_S), undefined)
  }
  return { store, state, minutes }
}

type Values = Readonly<Record<string, Cell>>
type RowOf = (n: number, timeS: number) => Values

function* rowsOf(chain: string, fromS: number, minutes: number, rowOf: RowOf): Generator<Values> {
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const shared = { chain, pair: address('pool', pair), version: 1, is_deleted: 0 }
    for (let n = 0; n < minutes; n += 1) {
      const timeS = fromS + n * 60
      yield { ...shared, time: timeS, ...rowOf(n, timeS) }
    }
  }
}

function candle(n: number): Values {
  const price = 1 + (n % 997) / 1000
  const figures = { open: price, first: price, high: price * 1.01, low: price / 1.01, close: price * 1.001, volume: n }
  const of = (category: string) => Object.entries(figures).map(([name, value]) => [`${name}_${category}`, value])
  return { interval: 'k1', ...Object.fromEntries([...of('u'), ...of('n'), ...of('r')]) }
}

function trade(n: number, timeS: number): Values {
  return {
    ...{
      block_number: timeS / 60,
      tx_index: 1,
      log_index: n,
      sub: 0,
      tx_hash: `0x${timeS.toString(16).padStart(64, '0')}`,
    },
    ...{ id: `${timeS}-1`, tx_seq: n, sell: n % 2, wallet: address('wallet', n % 4000), flags: 0, quote_path: 'usdc' },
    ...{ amount_in: `${1_000_000 + n}000000000000`, amount_out: `${2_000_000 + n}000000000000` },
    ...{ price_usd: 1 + (n % 997) / 1000, amount_usd: 10 + n, quote_usd: 2000 },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchLongHistory()) ? 0 : 1
