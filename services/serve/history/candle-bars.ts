import { bucketStart, INTERVAL_SECONDS } from '../../core/domain/buckets.js'
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import type { Candle } from '../../core/domain/packed-candles.js'

/** USD, native coin, quote token. */
export type Category = 'u' | 'm' | 'r'

/** A candle in one currency. */
export type Bar = {
  timeS: number
  open: number
  first: number
  high: number
  low: number
  close: number
  volume: number
  filled?: true
}

export function barOf(candle: Candle, category: Category): Bar {
  return {
    timeS: candle.time,
    open: candle[`open_${category}`],
    first: candle[`first_${category}`],
    high: candle[`high_${category}`],
    low: candle[`low_${category}`],
    close: candle[`close_${category}`],
    volume: candle[`volume_${category}`],
  }
}

/** Rolls up ascending bars of a shorter interval. A bucket opens where its first bar opens. */
export function rollUp(bars: readonly Bar[], interval: HistoryInterval): Bar[] {
  const rolled: Bar[] = []
  for (const bar of bars) {
    const timeS = interval.startOf(bar.timeS)
    const last = rolled.at(-1)
    if (last?.timeS !== timeS) {
      rolled.push({ ...bar, timeS })
      continue
    }
    if (Number.isNaN(last.first)) last.first = bar.first
    last.high = Math.max(last.high, bar.high)
    last.low = Math.min(last.low, bar.low)
    last.close = bar.close
    last.volume += bar.volume
  }
  return rolled
}

/** Fills missing buckets flat at the previous close and marks them. Starts at the first known close. */
export function fillPrevious(
  bars: readonly Bar[],
  before: Bar | undefined,
  range: { fromS: number; toS: number },
  interval: HistoryInterval,
): Bar[] {
  const byTime = new Map(bars.map((bar) => [bar.timeS, bar]))
  const filled: Bar[] = []
  let close = before?.close
  for (let timeS = range.fromS; timeS <= range.toS; timeS = interval.step(timeS, 1)) {
    const bar = byTime.get(timeS)
    if (bar !== undefined) filled.push(bar)
    else if (close !== undefined) filled.push(flat(timeS, close))
    close = bar?.close ?? close
  }
  return filled
}

function flat(timeS: number, close: number): Bar {
  return { timeS, open: close, first: Number.NaN, high: close, low: close, close, volume: 0, filled: true }
}

/** An interval of the candle history: stored, or rolled up from days. */
export type HistoryInterval = {
  /** Name in responses: minutes, or `s1`. */
  name: number | 's1'
  /** The stored candles it is read from. */
  stored: Interval
  /** Maximum number of stored candles per bucket. */
  storedPerBucket: number
  startOf(timeS: number): number
  /** The bucket `steps` after the one that starts at `startS`; steps may be negative. */
  step(startS: number, steps: number): number
}

const DAY_S = 86_400
const THREE_DAYS_S = 3 * DAY_S

const storedIntervals = INTERVALS.map((stored, index): HistoryInterval => {
  const seconds = INTERVAL_SECONDS[index] ?? 1
  return {
    name: stored === 's1' ? 's1' : seconds / 60,
    stored,
    storedPerBucket: 1,
    startOf: (timeS) => bucketStart(index, timeS),
    step: (startS, steps) => startS + steps * seconds,
  }
})

const threeDays: HistoryInterval = {
  name: 4320,
  stored: 'k1440',
  storedPerBucket: 3,
  startOf: (timeS) => Math.floor(timeS / THREE_DAYS_S) * THREE_DAYS_S,
  step: (startS, steps) => startS + steps * THREE_DAYS_S,
}

const month: HistoryInterval = {
  name: 43200,
  stored: 'k1440',
  storedPerBucket: 31,
  startOf: (timeS) => monthStart(timeS, 0),
  step: (startS, steps) => monthStart(startS, steps),
}

function monthStart(timeS: number, months: number): number {
  const date = new Date(timeS * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) / 1000
}

/** Calendar years, counted from 1970. */
const years = (name: number, count: number): HistoryInterval => ({
  name,
  stored: 'k1440',
  storedPerBucket: 366 * count,
  startOf: (timeS) => {
    const year = new Date(timeS * 1000).getUTCFullYear()
    return Date.UTC(year - ((year - 1970) % count), 0) / 1000
  },
  step: (startS, steps) => monthStart(startS, 12 * count * steps),
})

/** By every accepted name: `15`, `k15`, `s1`. */
export const HISTORY_INTERVALS: ReadonlyMap<string, HistoryInterval> = new Map(
  [...storedIntervals, threeDays, month, years(525_600, 1), years(2_628_000, 5)].flatMap(
    (interval): [string, HistoryInterval][] =>
      interval.name === 's1'
        ? [['s1', interval]]
        : [
            [String(interval.name), interval],
            [`k${interval.name}`, interval],
          ],
  ),
)

/** Interval name in pushes: `s1`, or minutes without the `k`. */
export function pushedInterval(interval: string): string {
  return interval.startsWith('k') ? interval.slice(1) : interval
}
