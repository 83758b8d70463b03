import type { Candle } from '../../core/domain/records.js'
import { candleEndS } from '../candles/intervals.js'

export type OpenCandle = { channel: string; pair: string; candle: Candle; endS: number }

/** The last pushed candle of each channel that has listeners, until chain time passes its end. One per chain. */
export interface OpenCandles {
  note(channel: string, pair: string, candle: Candle, isClosed: boolean): void
  /** Those of a pair; they are forgotten. */
  takeOf(pair: string): OpenCandle[]
  /** Those that ended by now, oldest first; they are forgotten. */
  takeEnded(nowS: number): OpenCandle[]
}

export function createOpenCandles(): OpenCandles {
  const open = new Map<string, OpenCandle>()
  /** Nothing ends before this: most updates need not look. */
  let nextEndS = Number.POSITIVE_INFINITY
  // A bucket of its own per start: when a new candle opens before the old one was told closed, both are kept.
  const keyOf = (channel: string, timeS: number) => `${channel}@${timeS}`
  return {
    note(channel, pair, candle, isClosed) {
      const key = keyOf(channel, candle.time)
      if (isClosed) {
        open.delete(key)
        return
      }
      const endS = candleEndS(candle.interval, candle.time)
      open.set(key, { channel, pair, candle, endS })
      nextEndS = Math.min(nextEndS, endS)
    },
    takeOf(pair) {
      const taken = [...open].filter(([, one]) => one.pair === pair)
      for (const [key] of taken) open.delete(key)
      return taken.map(([, candle]) => candle)
    },
    takeEnded(nowS) {
      if (nowS < nextEndS) return []
      const ended = [...open].filter(([, { endS }]) => endS <= nowS)
      for (const [key] of ended) open.delete(key)
      nextEndS = Math.min(...[...open.values()].map(({ endS }) => endS))
      return ended.map(([, candle]) => candle).sort((a, b) => a.endS - b.endS)
    },
  }
}
