import { describe, expect, it } from 'vitest'
import { bucketStart, INTERVAL_SECONDS } from '../../services/core/domain/buckets.js'
import { INTERVALS, type Interval } from '../../services/core/domain/chains.js'
import type { Candle } from '../../services/core/domain/packed-candles.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { closeTo } from '../rig/reference/compare.js'

const CURRENCIES = ['u', 'm', 'r'] as const

/** Candles by pair and interval, in time order, of a market whose time never goes back. */
function candlesOf(seed: number): Map<string, Candle[]> {
  const lines = generateRecording({
    seed,
    chain: 'eth',
    blocks: 400,
    options: { secondsPerBlock: 400, maxTimeBackS: 0 },
  })
  const reader = new Reader()
  for (const result of foldLines(startFold(marketMoney('eth')), lines)) reader.read(result)
  const lists = new Map<string, Candle[]>()
  for (const [key, candle] of reader.candles) {
    const list = key.slice(0, key.lastIndexOf('|'))
    lists.set(
      list,
      [...(lists.get(list) ?? []), candle].sort((a, b) => a.time - b.time),
    )
  }
  return lists
}

describe('candles', () => {
  for (const seed of [51, 52]) {
    const lists = candlesOf(seed)

    it(`seed ${seed}: each opens at the close before it, and its high and low hold all of it`, () => {
      for (const list of lists.values()) {
        for (const [n, candle] of list.entries()) {
          for (const c of CURRENCIES) {
            const [open, high, low, close] = [
              candle[`open_${c}`],
              candle[`high_${c}`],
              candle[`low_${c}`],
              candle[`close_${c}`],
            ]
            const before = list[n - 1]?.[`close_${c}`]
            if (before !== undefined && !Number.isNaN(before)) expect(open).toBe(before)
            if (Number.isNaN(open)) continue
            expect(high).toBeGreaterThanOrEqual(Math.max(open, close))
            expect(low).toBeLessThanOrEqual(Math.min(open, close))
          }
        }
      }
    })

    it(`seed ${seed}: the candles of an interval make those of every longer one`, () => {
      let made = 0
      for (const [key, longer] of lists) {
        const [pair = '', name = ''] = key.split('|')
        const interval = INTERVALS.indexOf(name as Interval)
        if (interval === 0) continue
        const shorter = lists.get(`${pair}|${INTERVALS[interval - 1]}`) ?? []
        for (const candle of longer) {
          const parts = shorter.filter((part) => bucketStart(interval, part.time) === candle.time)
          expect(parts.length).toBeGreaterThan(0)
          for (const c of CURRENCIES) expect(joined(parts, c)).toEqual(ohlc(candle, c))
          // Trades before a pair's first price have no candle of their own in a shorter interval, only their volume in this one.
          const volume = parts.reduce((sum, part) => sum + part.volume_u, 0)
          if (candle === longer[0]) expect(candle.volume_u).toBeGreaterThanOrEqual(volume * (1 - 1e-9))
          else expect(closeTo(candle.volume_u, volume)).toBe(true)
          made += 1
        }
      }
      expect(made).toBeGreaterThan(100)
    })
  }

  it('weeks begin on Monday 00:00 UTC, days at midnight', () => {
    const sunday = Date.UTC(2024, 0, 7, 23, 59, 59) / 1000
    const monday = Date.UTC(2024, 0, 8) / 1000
    const week = INTERVALS.indexOf('k10080')
    expect([bucketStart(week, sunday), bucketStart(week, monday)]).toEqual([Date.UTC(2024, 0, 1) / 1000, monday])
    expect(bucketStart(INTERVALS.indexOf('k1440'), sunday)).toBe(Date.UTC(2024, 0, 7) / 1000)
    expect(INTERVAL_SECONDS.every((seconds, n) => n === 0 || seconds % (INTERVAL_SECONDS[n - 1] ?? 1) === 0)).toBe(true)
  })
})

type Currency = (typeof CURRENCIES)[number]

function ohlc(candle: Candle, c: Currency): number[] {
  return [candle[`open_${c}`], candle[`high_${c}`], candle[`low_${c}`], candle[`close_${c}`]]
}

/** Parts without a price in this currency yet say nothing; the first one with a price opens. */
function joined(parts: Candle[], c: Currency): number[] {
  const priced = parts.map((part) => ohlc(part, c)).filter(([open]) => !Number.isNaN(open))
  const [first, last] = [priced[0], priced.at(-1)]
  if (first === undefined || last === undefined) return [Number.NaN, Number.NaN, Number.NaN, Number.NaN]
  const highs = priced.map(([, high]) => high ?? Number.NaN)
  const lows = priced.map(([, , low]) => low ?? Number.NaN)
  return [first[0] ?? Number.NaN, Math.max(...highs), Math.min(...lows), last[3] ?? Number.NaN]
}
