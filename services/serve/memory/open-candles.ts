import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import {
  AT,
  CANDLE_WIDTH,
  endOf,
  figureOf,
  isRemoved,
  type PackedCandle,
  type PackedCandles,
} from '../../core/domain/packed-candles.js'

export type OpenCandle = { pair: string; candle: PackedCandle }

/**
 * Every open candle of a chain, subscribed or not: the same updates close the same candles on every node. A pair without
 * recent trades has few: its short buckets have closed.
 */
export interface OpenCandles {
  /** Adds the candles of a pair's entry that are still open; drops those that closed or were removed. */
  note(pair: string, candles: PackedCandles, nowS: number): void
  hold(held: OpenCandle): void
  get(pair: string, interval: Interval): PackedCandle | undefined
  /** Removes and returns the candles of a pair that a reorg removed. */
  takeOf(pair: string): OpenCandle[]
  /** Removes and returns the candles closed by `nowS`: short intervals first, then by pair. */
  takeEnded(nowS: number): OpenCandle[]
  clear(): void
  readonly size: number
}

export function createOpenCandles(): OpenCandles {
  const byInterval = INTERVALS.map(() => ({
    open: new Map<string, PackedCandle>(),
    /** No candle closes before this, so most updates skip the search. */
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
      for (let at = 0; at < candles.length; at += CANDLE_WIDTH) {
        const candle = { data: candles, at }
        if (!isRemoved(candle) && endOf(candle) > nowS) {
          hold({ pair, candle })
          continue
        }
        const open = byInterval[figureOf(candle, AT.interval)]?.open
        const known = open?.get(pair)
        if (known !== undefined && figureOf(known, AT.timeS) === figureOf(candle, AT.timeS)) open?.delete(pair)
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
