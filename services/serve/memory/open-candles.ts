import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import { AT, CANDLE_WIDTH, endAt, type PackedCandle, type PackedCandles } from '../../core/domain/packed-candles.js'

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

/** A pair's open candles by interval: the array with the candle, and where in it. Reused: an update brings ten. */
class OpenPair {
  readonly data: (PackedCandles | undefined)[] = INTERVALS.map(() => undefined)
  readonly at: number[] = INTERVALS.map(() => 0)

  constructor(readonly pair: string) {}

  candle(interval: number): PackedCandle | undefined {
    const data = this.data[interval]
    return data && { data, at: this.at[interval] as number }
  }
}

export function createOpenCandles(): OpenCandles {
  const byPair = new Map<string, OpenPair>()
  const byInterval = INTERVALS.map(() => ({
    open: new Set<OpenPair>(),
    /** No candle closes before this, so most updates skip the search. */
    nextEndS: Number.POSITIVE_INFINITY,
  }))

  const pairOf = (pair: string): OpenPair => byPair.get(pair) ?? new OpenPair(pair)

  function put(entry: OpenPair, data: PackedCandles, at: number): void {
    const interval = data[at + AT.interval] as number
    const series = byInterval[interval]
    if (series === undefined) return
    entry.data[interval] = data
    entry.at[interval] = at
    series.open.add(entry)
    series.nextEndS = Math.min(series.nextEndS, endAt(data, at))
  }

  function drop(entry: OpenPair, interval: number): void {
    entry.data[interval] = undefined
    byInterval[interval]?.open.delete(entry)
    if (entry.data.every((data) => data === undefined)) byPair.delete(entry.pair)
  }

  /** A candle that is removed or closed is not open any more. */
  function dropSame(entry: OpenPair, data: PackedCandles, at: number): void {
    const interval = data[at + AT.interval] as number
    const known = entry.data[interval]
    if (known !== undefined && known[(entry.at[interval] as number) + AT.timeS] === data[at + AT.timeS])
      drop(entry, interval)
  }

  return {
    hold({ pair, candle: { data, at } }) {
      const entry = pairOf(pair)
      put(entry, data, at)
      byPair.set(pair, entry)
    },
    note(pair, candles, nowS) {
      if (candles.length === 0) return
      const entry = pairOf(pair)
      let hasOpen = false
      for (let at = 0; at < candles.length; at += CANDLE_WIDTH) {
        const isOpen = candles[at + AT.removed] !== 1 && endAt(candles, at) > nowS
        if (isOpen) put(entry, candles, at)
        else dropSame(entry, candles, at)
        hasOpen ||= isOpen
      }
      if (hasOpen) byPair.set(pair, entry)
    },
    get: (pair, interval) => byPair.get(pair)?.candle(INTERVALS.indexOf(interval)),
    takeOf(pair) {
      const entry = byPair.get(pair)
      if (entry === undefined) return []
      return INTERVALS.flatMap((_, interval) => {
        const candle = entry.candle(interval)
        drop(entry, interval)
        return candle === undefined ? [] : [{ pair, candle }]
      })
    },
    takeEnded(nowS) {
      return byInterval.flatMap((series, interval) => {
        if (nowS < series.nextEndS) return []
        const ended: OpenCandle[] = []
        series.nextEndS = Number.POSITIVE_INFINITY
        for (const entry of series.open) {
          const candle = entry.candle(interval)
          if (candle === undefined) continue
          const endS = endAt(candle.data, candle.at)
          if (endS > nowS) {
            series.nextEndS = Math.min(series.nextEndS, endS)
            continue
          }
          ended.push({ pair: entry.pair, candle })
          drop(entry, interval)
        }
        return ended.sort((a, b) => (a.pair < b.pair ? -1 : 1))
      })
    },
    clear() {
      byPair.clear()
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
