import { CANDLE_FIGURES, type Candle } from '../../core/domain/packed-candles.js'
import type { Store } from '../../core/store/port.js'
import type { MainPairChangeAt } from '../memory/event-overlay.js'
import type { ServedChain } from '../memory/served-chain.js'
import { type Bar, barOf, type Category, fillPrevious, type HistoryInterval, rollUp } from './candle-bars.js'

/** A range of bucket starts taken from one pair. */
export type Segment = { pair: string; fromS: number; toS: number }

export const wholeHistory = (pair: string): Segment => ({ pair, fromS: 0, toS: Number.MAX_SAFE_INTEGER })

export type HistoryQuery = {
  /** Ascending, without overlap: one pair for all time, or a token's successive main pairs. */
  segments: readonly Segment[]
  interval: HistoryInterval
  category: Category
  limit: number
  /** First bucket start. */
  fromS: number | undefined
  /** Last bucket start; default: now. */
  toS: number | undefined
  fill: boolean
}

type Order = 'earliest' | 'latest'
type Span = { fromS: number; toS: number }

/** Segments are part of the URL when the store is a server. */
const SEGMENTS_PER_QUERY = 100

/**
 * Reads bars in ascending order: stored rows merged with memory, so that pushed data is in the next response.
 * With only a start: the first `limit` from it; otherwise the last `limit` up to the end.
 */
export async function readHistory(store: Store, state: ServedChain, query: HistoryQuery): Promise<Bar[]> {
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

/** Filling begins at the given start, or at the first candle after it if none came before. */
async function fillStart(store: Store, state: ServedChain, query: HistoryQuery, span: Span): Promise<number> {
  const [before] = await readBars(store, state, query, { fromS: 0, toS: span.fromS - 1 }, 'latest', 1)
  if (before !== undefined) return span.fromS
  const [first] = await readBars(store, state, query, span, 'earliest', 1)
  return first?.timeS ?? span.fromS
}

/** The bucket starts of a filled response: none after now, at most `limit`. */
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
  state: ServedChain,
  query: HistoryQuery,
  span: Span,
  order: Order,
  limit: number,
): Promise<Bar[]> {
  const { interval } = query
  // The last bucket is complete: it includes stored candles that start after `toS`.
  const isStored = interval.storedPerBucket === 1
  const toS = isStored ? span.toS : interval.step(interval.startOf(Math.min(span.toS, state.nowS)), 1) - 1
  const left = query.segments
    .map(({ pair, ...one }) => ({ pair, fromS: Math.max(one.fromS, span.fromS), toS: Math.min(one.toS, toS) }))
    .filter((segment) => segment.fromS <= segment.toS)
  let bars: Bar[] = []
  while (left.length > 0 && bars.length < limit) {
    const segments = left.splice(order === 'latest' ? -SEGMENTS_PER_QUERY : 0, SEGMENTS_PER_QUERY)
    const candles = await readCandles(store, state, query, segments, order, limit)
    const more = candles.map((candle) => barOf(candle, query.category)).filter((bar) => !Number.isNaN(bar.close))
    const whole = isStored ? more : rollUp(more, interval)
    const inRange = whole.filter((bar) => inSpan(bar.timeS, span))
    bars = order === 'latest' ? [...inRange, ...bars] : [...bars, ...inRange]
  }
  return order === 'latest' ? bars.slice(-limit) : bars.slice(0, limit)
}

/** Stored candles of the segments merged with unflushed ones, ascending. */
async function readCandles(
  store: Store,
  state: ServedChain,
  { interval }: HistoryQuery,
  segments: readonly Segment[],
  order: Order,
  limit: number,
): Promise<Candle[]> {
  const unflushed = segments.flatMap((segment) =>
    [...state.candles.of(segment.pair, interval.stored).values()].filter(({ time }) => inSpan(time, segment)),
  )
  // Extra rows for those the overlay removes and for one bucket cut by the limit.
  const rows = (limit + 1) * interval.storedPerBucket + unflushed.length
  const visible = segments.filter(({ pair }) => !state.candles.isHidden(pair))
  const stored = visible.length === 0 ? [] : await storedCandles(store, state.chain, interval, visible, order, rows)
  const merged = new Map([...stored, ...unflushed].map((candle) => [candle.time, candle]))
  return [...merged.values()].filter(({ removed }) => !removed).sort((a, b) => a.time - b.time)
}

function inSpan(timeS: number, { fromS, toS }: Span): boolean {
  return timeS >= fromS && timeS <= toS
}

async function storedCandles(
  store: Store,
  chain: string,
  interval: HistoryInterval,
  segments: readonly Segment[],
  order: Order,
  limit: number,
): Promise<Candle[]> {
  const pairs = segments.map(({ pair }) => pair)
  const froms = segments.map(({ fromS }) => clampS(fromS))
  const tos = segments.map(({ toS }) => clampS(toS))
  const rows = await store.query<Record<string, number | string | null>>(
    `SELECT toUInt32(time) AS time_s, ${CANDLE_FIGURES.join(', ')} FROM candle_rows FINAL
     WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND interval = {interval:String}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
       ${segments.length === 1 ? '' : IN_A_SEGMENT}
     ORDER BY time ${order === 'latest' ? 'DESC' : 'ASC'} LIMIT {limit:UInt32}`,
    {
      ...{ chain, pairs, interval: interval.stored, froms, tos, limit },
      ...{ from: froms[0] ?? 0, to: tos.at(-1) ?? 0 },
    },
  )
  return rows.map((row) => {
    const values = CANDLE_FIGURES.map((name) => [name, row[name] === null ? Number.NaN : Number(row[name])])
    const time = Number(row.time_s)
    return { ...Object.fromEntries(values), interval: interval.stored, time, removed: false } as Candle
  })
}

const IN_A_SEGMENT = `AND arrayExists(
  (p, f, t) -> pair = p AND toUInt32(time) >= f AND toUInt32(time) <= t,
  {pairs:Array(String)}, {froms:Array(UInt32)}, {tos:Array(UInt32)})`

function clampS(timeS: number): number {
  return Math.min(Math.max(timeS, 0), 0xffff_ffff)
}

/** Splits a token's history by main pair: each bucket belongs to the pair that is main at its end. */
export async function mainPairSegments(
  store: Store,
  state: ServedChain,
  token: string,
  interval: HistoryInterval,
): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const { pair, timeS } of await mainPairSwitches(store, state, token)) {
    const fromS = interval.startOf(timeS)
    // A later switch in the same bucket, or one with an earlier time, replaces what it overlaps.
    while ((segments.at(-1)?.fromS ?? -1) >= fromS) segments.pop()
    const last = segments.at(-1)
    if (last !== undefined) last.toS = fromS - 1
    segments.push({ pair: pair ?? '', fromS, toS: Number.MAX_SAFE_INTEGER })
  }
  return segments.filter(({ pair }) => pair !== '')
}

/** In block order: stored switches merged with unflushed ones. */
async function mainPairSwitches(store: Store, state: ServedChain, token: string): Promise<MainPairChangeAt[]> {
  const unflushed = state.events.mainPairs(token)
  const rows = await store.query<{ block_number: string; time_s: number; new_pair: string }>(
    `SELECT block_number, toUInt32(time) AS time_s, new_pair FROM main_pair_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND block_number <= {upTo:UInt64} ORDER BY block_number`,
    { chain: state.chain, token, upTo: state.events.storedUpToBlock },
  )
  const stored = rows.map(({ block_number, time_s, new_pair }) => ({
    ...{ blockNumber: Number(block_number), timeS: Number(time_s) },
    pair: new_pair === '' ? null : new_pair,
  }))
  const byBlock = new Map([...stored, ...unflushed].map((one) => [one.blockNumber, one]))
  return [...byBlock.values()].sort((a, b) => a.blockNumber - b.blockNumber)
}
