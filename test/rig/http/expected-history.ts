/** Applies ranges, `fill` and `open` to whole histories, without paging. */

import type { Interval } from '../../../services/core/domain/chains.js'
import { bucketStart, INTERVAL_SECONDS } from '../reference/candles.js'
import type { Point } from './ask.js'
import { type Bar, LONG_BUCKETS } from './expected-candles.js'

export type HistoryQuery = {
  limit: number
  from_time?: number
  to_time?: number
  open?: 'first'
  fill?: 'previous'
}

export type AskedInterval = Interval | keyof typeof LONG_BUCKETS

const isLong = (interval: AskedInterval): interval is keyof typeof LONG_BUCKETS => interval in LONG_BUCKETS

export const startOf = (interval: AskedInterval, time: number): number =>
  isLong(interval) ? LONG_BUCKETS[interval](time) : bucketStart(interval, time)

/** A bucket is at most 31 days long, so 32 days later floors to the next one. */
function nextStart(interval: AskedInterval, start: number): number {
  const seconds = isLong(interval) ? { '4320': 3 * 86_400, '43200': 32 * 86_400 }[interval] : INTERVAL_SECONDS[interval]
  return startOf(interval, start + seconds)
}

export function historyOf(bars: readonly Bar[], interval: AskedInterval, now: number, query: HistoryQuery): Point[] {
  const { limit, from_time = 0, to_time } = query
  const all = query.fill === 'previous' ? filled(bars, interval, now) : bars
  const inRange = all.filter(({ time }) => time >= from_time && time <= (to_time ?? Number.POSITIVE_INFINITY))
  const forward = query.from_time !== undefined && to_time === undefined
  return (forward ? inRange.slice(0, limit) : inRange.slice(-limit)).map(({ first, open, ...bar }) => ({
    ...bar,
    open: query.open === 'first' && !Number.isNaN(first) ? first : open,
  }))
}

function filled(bars: readonly Bar[], interval: AskedInterval, now: number): (Bar & { filled?: true })[] {
  const byTime = new Map(bars.map((bar) => [bar.time, bar]))
  const all: (Bar & { filled?: true })[] = []
  const [begin] = bars
  for (let time = begin?.time ?? Number.POSITIVE_INFINITY; time <= now; time = nextStart(interval, time)) {
    const close = all.at(-1)?.close ?? Number.NaN
    const flat = { open: close, high: close, low: close, close, first: Number.NaN, volume: 0, filled: true as const }
    all.push(byTime.get(time) ?? { time, ...flat })
  }
  return all
}
