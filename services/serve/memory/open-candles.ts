import { bucketEnd } from '../../core/domain/buckets.js'
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import type { PackedCandle } from '../../core/domain/packed-candles.js'
import { EntryCandle, type EntryCandles } from '../../core/domain/pair-events.js'

/** `interval`: its index in INTERVALS. */
export type OpenCandle = { pair: string; interval: number; candle: PackedCandle }

/**
 * Every open candle of a chain, subscribed or not: the same updates close the same candles on every node. A pair without
 * recent trades has few: its short buckets have closed.
 */
export interface OpenCandles {
  /** Adds the candles of a pair's entry that are still open; drops those that closed or were removed. */
  note(pair: string, candles: EntryCandles, nowS: number): void
  get(pair: string, interval: Interval): PackedCandle | undefined
  /** Removes and returns the candles of a pair that a reorg removed. */
  takeOf(pair: string): OpenCandle[]
  /** Removes and returns the candles closed by `nowS`: short intervals first, otherwise in any order. Called before each update. */
  takeEnded(nowS: number): OpenCandle[]
  clear(): void
  readonly size: number
}

/** A pair's open candles by interval: the entry they came with, their place in it, their time. Reused: an update brings ten. */
class OpenPair {
  readonly from: (EntryCandles | undefined)[] = INTERVALS.map(() => undefined)
  readonly index: number[] = INTERVALS.map(() => 0)
  readonly timeS: number[] = INTERVALS.map(() => 0)

  constructor(readonly pair: string) {}

  candle(interval: number): PackedCandle | undefined {
    const from = this.from[interval]
    return from && new EntryCandle(from, this.index[interval] as number)
  }
}

/** A pair that trades replaces its candles before; those of others then keep only their own bytes in memory. */
const DETACH_AFTER_UPDATES = 64

export function createOpenCandles(): OpenCandles {
  const byPair = new Map<string, OpenPair>()
  const byInterval = INTERVALS.map(() => ({
    open: new Set<OpenPair>(),
    /** No candle closes before this, so most updates skip the search. */
    nextEndS: Number.POSITIVE_INFINITY,
  }))
  let updates = 0
  /** Since candles were detached last. */
  let noted = new Set<OpenPair>()

  const pairOf = (pair: string): OpenPair => byPair.get(pair) ?? new OpenPair(pair)

  function put(entry: OpenPair, from: EntryCandles, index: number, interval: number, timeS: number): void {
    const series = byInterval[interval]
    if (series === undefined) return
    entry.from[interval] = from
    entry.index[interval] = index
    entry.timeS[interval] = timeS
    series.open.add(entry)
    series.nextEndS = Math.min(series.nextEndS, bucketEnd(interval, timeS))
  }

  function drop(entry: OpenPair, interval: number): void {
    entry.from[interval] = undefined
    byInterval[interval]?.open.delete(entry)
    if (entry.from.every((from) => from === undefined)) byPair.delete(entry.pair)
  }

  function detach(): void {
    updates += 1
    if (updates % DETACH_AFTER_UPDATES !== 0) return
    for (const { from } of noted) for (const candles of from) candles?.detach()
    noted = new Set()
  }

  return {
    note(pair, candles, nowS) {
      const entry = pairOf(pair)
      let hasOpen = false
      candles.places((index, interval, timeS, isRemoved) => {
        if (!isRemoved && bucketEnd(interval, timeS) > nowS) {
          put(entry, candles, index, interval, timeS)
          hasOpen = true
        } else if (entry.from[interval] !== undefined && entry.timeS[interval] === timeS) drop(entry, interval)
      })
      if (!hasOpen) return
      byPair.set(pair, entry)
      noted.add(entry)
    },
    get: (pair, interval) => byPair.get(pair)?.candle(INTERVALS.indexOf(interval)),
    takeOf(pair) {
      const entry = byPair.get(pair)
      if (entry === undefined) return []
      return INTERVALS.flatMap((_, interval) => {
        const candle = entry.candle(interval)
        drop(entry, interval)
        return candle === undefined ? [] : [{ pair, interval, candle }]
      })
    },
    takeEnded(nowS) {
      detach()
      return byInterval.flatMap((series, interval) => {
        if (nowS < series.nextEndS) return []
        const ended: OpenCandle[] = []
        series.nextEndS = Number.POSITIVE_INFINITY
        for (const entry of series.open) {
          const endS = bucketEnd(interval, entry.timeS[interval] as number)
          if (endS > nowS) {
            series.nextEndS = Math.min(series.nextEndS, endS)
            continue
          }
          const candle = entry.candle(interval)
          if (candle === undefined) continue
          ended.push({ pair: entry.pair, interval, candle })
          drop(entry, interval)
        }
        return ended
      })
    },
    clear() {
      byPair.clear()
      noted.clear()
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
