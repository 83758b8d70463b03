/** Expected history, from the candles of the reference. */
import type { Interval } from '../../../services/core/domain/chains.js'
import type { Reference } from '../reference/recompute.js'

export type Category = 'u' | 'm' | 'r'
export type Bar = {
  time: number
  open: number
  first: number
  high: number
  low: number
  close: number
  volume: number
}
export type Bars = { of(pair: string, interval: Interval, category: Category): Bar[] }

/** A bucket without a price in a currency is absent in that currency. */
export function barsOf(reference: Reference): Bars {
  const series = new Map<string, [number, Record<string, number>][]>()
  for (const [key, candle] of reference.candles) {
    const [pair, interval, time] = key.split('|')
    const name = `${pair}|${interval}`
    const known = series.get(name)
    const entry: [number, Record<string, number>] = [Number(time), { ...candle }]
    if (known === undefined) series.set(name, [entry])
    else known.push(entry)
  }
  return {
    of: (pair, interval, category) =>
      (series.get(`${pair}|${interval}`) ?? [])
        .map(([time, candle]) => {
          const value = (field: string): number => candle[`${field}_${category}`] ?? Number.NaN
          const [open, first, high, low] = [value('open'), value('first'), value('high'), value('low')]
          return { time, open, first, high, low, close: value('close'), volume: value('volume') }
        })
        .filter(({ open }) => !Number.isNaN(open))
        .sort((a, b) => a.time - b.time),
  }
}

/** Three-day buckets from the epoch and calendar months, grouped from days. */
export const LONG_BUCKETS: Record<'4320' | '43200', (time: number) => number> = {
  '4320': (time) => time - (time % (3 * 86_400)),
  '43200': (time) => Date.parse(`${new Date(time * 1000).toISOString().slice(0, 7)}-01T00:00:00Z`) / 1000,
}

export function groupDays(days: readonly Bar[], startOf: (time: number) => number): Bar[] {
  const starts = [...new Set(days.map(({ time }) => startOf(time)))]
  const groups = starts.map((start) => [start, days.filter(({ time }) => startOf(time) === start)] as const)
  return groups.map(([time, group]) => ({
    time,
    open: group[0]?.open ?? Number.NaN,
    first: group.map(({ first }) => first).find((first) => !Number.isNaN(first)) ?? Number.NaN,
    high: Math.max(...group.map(({ high }) => high)),
    low: Math.min(...group.map(({ low }) => low)),
    close: group.at(-1)?.close ?? Number.NaN,
    volume: group.reduce((sum, { volume }) => sum + volume, 0),
  }))
}
