import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import type { PairUpdate } from '../../core/domain/records.js'
import { AT, endOf, figureOf, isRemoved, type PackedCandle, packCandle } from './packed-candle.js'

export type OpenCandle = { pair: string; candle: PackedCandle }

/**
 * Every candle of a chain whose bucket has not ended, whoever listens: the same updates give the same closings, on every node.
 * A pair at rest holds few: its short buckets have ended.
 */
export interface OpenCandles {
  /** The candles of a pair's entry; those that are over by now, or ceased, are not held. */
  note(pair: string, candles: PairUpdate['candles'], nowS: number): void
  hold(held: OpenCandle): void
  get(pair: string, interval: Interval): PackedCandle | undefined
  /** Those of a pair that never was; they are forgotten. */
  takeOf(pair: string): OpenCandle[]
  /** Those that ended by now, short intervals first, then by pair; they are forgotten. */
  takeEnded(nowS: number): OpenCandle[]
  clear(): void
  readonly size: number
}

export function createOpenCandles(): OpenCandles {
  const byInterval = INTERVALS.map(() => ({
    open: new Map<string, PackedCandle>(),
    /** Nothing ends before this: most updates need not look. */
    nextEndS: Number.POSITIVE_INFINITY,
  }))

  function hold({ pair, candle }: OpenCandle): void {
    const series = byInterval[figureOf(candle, AT.interval)]
    if (series === undefined) return
    series.open.set(pair, candle)
    series.nextEndS = Math.min(series.nextEndS, endOf(candle))
  }

  return {
    hold,
    note(pair, candles, nowS) {
      for (const told of candles) {
        const candle = packCandle(told)
        if (!isRemoved(candle) && endOf(candle) > nowS) {
          hold({ pair, candle })
          continue
        }
        const open = byInterval[figureOf(candle, AT.interval)]?.open
        if (open?.get(pair)?.[AT.timeS] === told.time) open.delete(pair)
      }
    },
    get: (pair, interval) => byInterval[INTERVALS.indexOf(interval)]?.open.get(pair),
    takeOf(pair) {
      return byInterval.flatMap(({ open }) => {
        const candle = open.get(pair)
        open.delete(pair)
        return candle === undefined ? [] : [{ pair, candle }]
      })
    },
    takeEnded(nowS) {
      return byInterval.flatMap((series) => {
        if (nowS < series.nextEndS) return []
        const ended: OpenCandle[] = []
        series.nextEndS = Number.POSITIVE_INFINITY
        for (const [pair, candle] of series.open) {
          const endS = endOf(candle)
          if (endS <= nowS) ended.push({ pair, candle })
          else series.nextEndS = Math.min(series.nextEndS, endS)
        }
        for (const { pair } of ended) series.open.delete(pair)
        return ended.sort((a, b) => (a.pair < b.pair ? -1 : 1))
      })
    },
    clear() {
      for (const series of byInterval) {
        series.open.clear()
        series.nextEndS = Number.POSITIVE_INFINITY
      }
    },
    get size() {
      return byInterval.reduce((sum, { open }) => sum + open.size, 0)
    },
  }
}
