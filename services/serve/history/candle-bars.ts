import type { Candle } from '../../core/domain/records.js'
import type { HistoryInterval } from './intervals.js'

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
