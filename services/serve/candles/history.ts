import type { Candle } from '../../core/domain/records.js'
import type { Store } from '../../core/store/port.js'
import type { ChainState } from '../memory/chain-state.js'
import { type Bar, barOf, type Category, fillPrevious, rollUp } from './bars.js'
import type { HistoryInterval } from './intervals.js'

export type HistoryQuery = {
  pair: string
  interval: HistoryInterval
  category: Category
  limit: number
  /** Bucket starts from here on, where given. */
  fromS: number | undefined
  /** Bucket starts up to here, where given; else up to now. */
  toS: number | undefined
  fill: boolean
}

type Order = 'earliest' | 'latest'
type Span = { fromS: number; toS: number }

const COLUMNS = ['u', 'm', 'r'].flatMap((c) =>
  ['open', 'first', 'high', 'low', 'close', 'volume'].map((f) => `${f}_${c}`),
)

/**
 * A pair's bars, ascending: the store's rows with memory laid over them, so that what was pushed is in the next answer.
 * Only a start given: the first `limit` from it; else the last `limit` up to the end.
 */
export async function readHistory(store: Store, state: ChainState, query: HistoryQuery): Promise<Bar[]> {
  const { interval, limit } = query
  const order: Order = query.fromS !== undefined && query.toS === undefined ? 'earliest' : 'latest'
  const span = { fromS: query.fromS ?? 0, toS: query.toS ?? Number.MAX_SAFE_INTEGER }
  if (!query.fill) return readBars(store, state, query, span, order, limit)
  const fromS = order === 'earliest' ? await fillStart(store, state, query, span) : span.fromS
  const wanted = fillSpan({ ...span, fromS }, order, limit, state.nowS, interval)
  if (wanted.toS < wanted.fromS) return []
  const bars = await readBars(store, state, query, wanted, order, limit)
  const [before] = await readBars(store, state, query, { fromS: 0, toS: wanted.fromS - 1 }, 'latest', 1)
  return fillPrevious(bars, before, wanted, interval)
}

/** Where filling from a start begins: there, or at the first candle after it when none came before. */
async function fillStart(store: Store, state: ChainState, query: HistoryQuery, span: Span): Promise<number> {
  const [before] = await readBars(store, state, query, { fromS: 0, toS: span.fromS - 1 }, 'latest', 1)
  if (before !== undefined) return span.fromS
  const [first] = await readBars(store, state, query, span, 'earliest', 1)
  return first?.timeS ?? span.fromS
}

/** The bucket starts a filled answer covers: none after now, at most `limit`. */
function fillSpan(span: Span, order: Order, limit: number, nowS: number, interval: HistoryInterval): Span {
  const last = interval.startOf(Math.min(span.toS, nowS))
  const floor = interval.startOf(span.fromS)
  const first = floor < span.fromS ? interval.step(floor, 1) : floor
  return order === 'earliest'
    ? { fromS: first, toS: Math.min(last, interval.step(first, limit - 1)) }
    : { fromS: Math.max(first, interval.step(last, 1 - limit)), toS: last }
}

async function readBars(
  store: Store,
  state: ChainState,
  query: HistoryQuery,
  span: Span,
  order: Order,
  limit: number,
): Promise<Bar[]> {
  const { interval } = query
  const perBucket = interval.storedPerBucket
  // The last bucket asked for is whole: it takes in stored candles that start after `toS`.
  const toS = perBucket === 1 ? span.toS : interval.step(interval.startOf(Math.min(span.toS, state.nowS)), 1) - 1
  const overlay = state.candles.of(query.pair, interval.stored)
  // Rows the overlay removes, and one bucket cut by the limit, must not make the answer short.
  const rows = (limit + 1) * perBucket + overlay.size
  const hidden = state.candles.isHidden(query.pair)
  const stored = hidden ? [] : await storedCandles(store, state.chain, query, { fromS: span.fromS, toS }, order, rows)
  const merged = new Map(stored.map((candle) => [candle.time, candle]))
  for (const candle of overlay.values()) if (inSpan(candle.time, span.fromS, toS)) merged.set(candle.time, candle)
  const bars = [...merged.values()]
    .filter((candle) => !candle.removed)
    .sort((a, b) => a.time - b.time)
    .map((candle) => barOf(candle, query.category))
    .filter((bar) => !Number.isNaN(bar.close))
  const whole = perBucket === 1 ? bars : rollUp(bars, interval)
  const inRange = whole.filter((bar) => inSpan(bar.timeS, span.fromS, span.toS))
  return order === 'latest' ? inRange.slice(-limit) : inRange.slice(0, limit)
}

function inSpan(timeS: number, fromS: number, toS: number): boolean {
  return timeS >= fromS && timeS <= toS
}

async function storedCandles(
  store: Store,
  chain: string,
  { pair, interval }: HistoryQuery,
  { fromS, toS }: Span,
  order: Order,
  limit: number,
): Promise<Candle[]> {
  const rows = await store.query<Record<string, number | string | null>>(
    `SELECT toUInt32(time) AS time_s, ${COLUMNS.join(', ')} FROM candle_rows FINAL
     WHERE chain = {chain:String} AND pair = {pair:String} AND interval = {interval:String}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
     ORDER BY time ${order === 'latest' ? 'DESC' : 'ASC'} LIMIT {limit:UInt32}`,
    { chain, pair, interval: interval.stored, from: clampS(fromS), to: clampS(toS), limit },
  )
  return rows.map((row) => {
    const values = COLUMNS.map((name) => [name, row[name] === null ? Number.NaN : Number(row[name])])
    const time = Number(row.time_s)
    return { ...Object.fromEntries(values), interval: interval.stored, time, removed: false } as Candle
  })
}

function clampS(timeS: number): number {
  return Math.min(Math.max(timeS, 0), 0xffff_ffff)
}
