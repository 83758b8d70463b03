import { intervalSeconds } from '../../core/domain/buckets.js'
import type { Interval } from '../../core/domain/chains.js'
import { CANDLE_FIGURES } from '../../core/domain/packed-candles.js'
import type { ServedChain } from '../memory/served-chain.js'
import { type Bar, barOf, type Category } from './candle-bars.js'
import { type Order, readNearRows } from './near-rows.js'
import type { Queries } from './query-lanes.js'
import { clampS, numberOf, type StoredRow } from './stored-rows.js'

/** A range of bucket starts taken from one pair. */
export type Segment = { pair: string; fromS: number; toS: number }
export type Span = { fromS: number; toS: number }
export type StoredCandles = { interval: Interval; category: Category }

/** Stored bars of the segments merged with unflushed ones, ascending: at least the last (or first) `limit` of them. */
export async function readStoredBars(
  store: Queries,
  state: ServedChain,
  candles: StoredCandles,
  segments: readonly Segment[],
  order: Order,
  limit: number,
): Promise<{ bars: Bar[]; isAll: boolean }> {
  const unflushed = segments.flatMap((segment) =>
    [...state.candles.of(segment.pair, candles.interval).values()].filter(({ time }) => inSpan(time, segment)),
  )
  // Extra rows for those the overlay removes.
  const rows = limit + unflushed.length
  const visible = segments.filter(({ pair }) => !state.candles.isHidden(pair))
  const stored = visible.length === 0 ? [] : await storedBars(store, state, candles, visible, order, rows)
  const byTime = new Map(stored.map((bar) => [bar.timeS, bar]))
  for (const candle of unflushed) {
    const bar = barOf(candle, candles.category)
    if (candle.removed || Number.isNaN(bar.close)) byTime.delete(bar.timeS)
    else byTime.set(bar.timeS, bar)
  }
  const bars = [...byTime.values()].sort((a, b) => a.timeS - b.timeS)
  if (stored.length < rows) return { bars, isAll: true }
  // Beyond the last stored row, only unflushed ones are known.
  const edgeS = stored.at(-1)?.timeS ?? 0
  const known = bars.filter(({ timeS }) => (order === 'latest' ? timeS >= edgeS : timeS <= edgeS))
  return { bars: known, isAll: false }
}

export function inSpan(timeS: number, { fromS, toS }: Span): boolean {
  return timeS >= fromS && timeS <= toS
}

/** A candle without a price in this currency has no bar. */
async function storedBars(
  store: Queries,
  state: ServedChain,
  { interval, category }: StoredCandles,
  segments: readonly Segment[],
  order: Order,
  limit: number,
): Promise<Bar[]> {
  const pairs = segments.map(({ pair }) => pair)
  const froms = segments.map(({ fromS }) => clampS(fromS))
  const tos = segments.map(({ toS }) => clampS(toS))
  const figures = CANDLE_FIGURES.filter((name) => name.endsWith(`_${category}`))
  const firstS = Math.min(...pairs.map((pair) => state.pairs.get(pair)?.first_trade_at ?? 0))
  const [fromS, toS] = [froms[0] ?? 0, tos.at(-1) ?? 0]
  const spacingS = intervalSeconds(interval)
  const read = (from: number, to: number) =>
    store.query<StoredRow>(
      `SELECT toUInt32(time) AS time_s, ${figures.join(', ')} FROM candle_rows FINAL
     WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND interval = {interval:String}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
       ${segments.length === 1 ? '' : IN_A_SEGMENT} AND NOT isNaN(close_${category})
     ORDER BY time ${order === 'latest' ? 'DESC' : 'ASC'} LIMIT {limit:UInt32}`,
      { chain: state.chain, pairs, interval, froms, tos, limit, from, to },
    )
  const rows = await readNearRows({ fromS, toS, order, limit, firstS, lastS: state.nowS, spacingS }, read)
  const figure = (row: StoredRow, name: string) => numberOf(row[`${name}_${category}`])
  return rows.map((row) => ({
    timeS: Number(row.time_s),
    open: figure(row, 'open'),
    first: figure(row, 'first'),
    high: figure(row, 'high'),
    low: figure(row, 'low'),
    close: figure(row, 'close'),
    volume: figure(row, 'volume'),
  }))
}

export const IN_A_SEGMENT = `AND arrayExists(
  (p, f, t) -> pair = p AND toUInt32(time) >= f AND toUInt32(time) <= t,
  {pairs:Array(String)}, {froms:Array(UInt32)}, {tos:Array(UInt32)})`
