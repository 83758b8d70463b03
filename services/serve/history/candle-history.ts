import type { ServedChain } from '../memory/served-chain.js'
import { type Bar, type Category, fillPrevious, type HistoryInterval, rollUp } from './candle-bars.js'
import { readHotBars } from './hot/hot-bars.js'
import type { HistorySources } from './hot/hot-history.js'
import type { Order } from './near-rows.js'
import { inSpan, readStoredBars, type Segment, type Span } from './stored-candles.js'

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
  /** Which bars remain if there are more than `limit`; otherwise the range says so. */
  order?: Order
}

/** Segments are part of the URL when the store is a server. */
const SEGMENTS_PER_QUERY = 100

/**
 * Reads bars in ascending order, from memory where it has them all, so that pushed data is in the next response.
 * With only a start: the first `limit` from it; otherwise the last `limit` up to the end.
 */
export async function readHistory(sources: HistorySources, state: ServedChain, query: HistoryQuery): Promise<Bar[]> {
  const { interval, limit } = query
  const order = query.order ?? orderOf(query)
  const span = { fromS: query.fromS ?? 0, toS: query.toS ?? Number.MAX_SAFE_INTEGER }
  if (!query.fill) return readBars(sources, state, query, span, order, limit)
  const fromS = order === 'earliest' ? await fillStart(sources, state, query, span) : span.fromS
  const wanted = fillSpan({ ...span, fromS }, order, limit, state.nowS, interval)
  if (wanted.toS < wanted.fromS) return []
  const bars = await readBars(sources, state, query, wanted, order, limit)
  const [before] = await readBars(sources, state, query, { fromS: 0, toS: wanted.fromS - 1 }, 'latest', 1)
  return fillPrevious(bars, before, wanted, interval)
}

export function orderOf({ fromS, toS }: Pick<HistoryQuery, 'fromS' | 'toS'>): Order {
  return fromS !== undefined && toS === undefined ? 'earliest' : 'latest'
}

/** Filling begins at the given start, or at the first candle after it if none came before. */
async function fillStart(
  sources: HistorySources,
  state: ServedChain,
  query: HistoryQuery,
  span: Span,
): Promise<number> {
  const [before] = await readBars(sources, state, query, { fromS: 0, toS: span.fromS - 1 }, 'latest', 1)
  if (before !== undefined) return span.fromS
  const [first] = await readBars(sources, state, query, span, 'earliest', 1)
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
  sources: HistorySources,
  state: ServedChain,
  query: HistoryQuery,
  span: Span,
  order: Order,
  limit: number,
): Promise<Bar[]> {
  const { interval, category } = query
  // The last bucket is complete: it includes stored candles that start after `toS`.
  const isStored = interval.storedPerBucket === 1
  const toS = isStored ? span.toS : interval.step(interval.startOf(Math.min(span.toS, state.nowS)), 1) - 1
  const left = query.segments
    .map(({ pair, ...one }) => ({ pair, fromS: Math.max(one.fromS, span.fromS), toS: Math.min(one.toS, toS) }))
    .filter((segment) => segment.fromS <= segment.toS)
  const candles = { interval: interval.stored, category }
  // One more bucket, which the limit may cut.
  const rows = isStored ? limit : (limit + 1) * interval.storedPerBucket
  let bars: Bar[] = []
  while (left.length > 0 && bars.length < limit) {
    const segments = left.splice(order === 'latest' ? -SEGMENTS_PER_QUERY : 0, SEGMENTS_PER_QUERY)
    const more =
      (await readHotBars(sources.hot, state, candles, segments, order, rows)) ??
      (await readStoredBars(sources.store, state, candles, segments, order, rows)).bars
    const whole = isStored ? more : rollUp(more, interval)
    const inRange = whole.filter((bar) => inSpan(bar.timeS, span))
    bars = order === 'latest' ? [...inRange, ...bars] : [...bars, ...inRange]
  }
  return order === 'latest' ? bars.slice(-limit) : bars.slice(0, limit)
}
