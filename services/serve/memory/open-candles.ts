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

/** The time of a candle that no pair ever had. */
const NEVER = -1

/** A pair's open candles by interval: the entry they came with, their place in it, their time. Reused: an update brings ten. */
class OpenPair {
  readonly from: (EntryCandles | undefined)[] = INTERVALS.map(() => undefined)
  readonly index: number[] = INTERVALS.map(() => 0)
  /** Also of one that a reorg removed: its pair is still listed where that one would close. */
  readonly timeS: number[] = INTERVALS.map(() => NEVER)
  openCount = 0
  isKept = false
  isNoted = false

  constructor(readonly pair: string) {}

  candle(interval: number): PackedCandle | undefined {
    const from = this.from[interval]
    return from && new EntryCandle(from, this.index[interval] as number)
  }
}

/** The pairs of which a candle may close at a time: some have closed since, and a pair may be in it twice. */
type Ending = { endS: number; pairs: OpenPair[] }

/** A pair that trades replaces its candles and states before; those of others then keep only their own bytes in memory. */
export const DETACH_AFTER_UPDATES = 64

export function createOpenCandles(): OpenCandles {
  const byPair = new Map<string, OpenPair>()
  /** By interval: the next one first. A chain's pairs share one or two. */
  let endings: Ending[][] = INTERVALS.map(() => [])
  let size = 0
  let updates = 0
  /** Since candles were detached last. */
  let noted: OpenPair[] = []

  function endingAt(interval: number, endS: number): Ending {
    const series = endings[interval] as Ending[]
    let at = series.length
    while (at > 0 && (series[at - 1] as Ending).endS > endS) at -= 1
    const before = series[at - 1]
    if (before?.endS === endS) return before
    const ending = { endS, pairs: [] }
    series.splice(at, 0, ending)
    return ending
  }

  function put(entry: OpenPair, from: EntryCandles, index: number, interval: number, timeS: number): void {
    if (entry.from[interval] === undefined) {
      entry.openCount += 1
      size += 1
    }
    entry.from[interval] = from
    entry.index[interval] = index
    if (entry.timeS[interval] === timeS) return
    entry.timeS[interval] = timeS
    endingAt(interval, bucketEnd(interval, timeS)).pairs.push(entry)
  }

  function drop(entry: OpenPair, interval: number): void {
    if (entry.from[interval] === undefined) return
    entry.from[interval] = undefined
    entry.openCount -= 1
    size -= 1
    if (entry.openCount > 0) return
    byPair.delete(entry.pair)
    entry.isKept = false
  }

  function detach(): void {
    updates += 1
    if (updates % DETACH_AFTER_UPDATES !== 0) return
    for (const entry of noted) {
      entry.isNoted = false
      for (const candles of entry.from) candles?.detach()
    }
    noted = []
  }

  return {
    note(pair, candles, nowS) {
      const entry = byPair.get(pair) ?? new OpenPair(pair)
      candles.places((index, interval, timeS, isRemoved) => {
        if (!isRemoved && bucketEnd(interval, timeS) > nowS) put(entry, candles, index, interval, timeS)
        else if (entry.timeS[interval] === timeS) drop(entry, interval)
      })
      if (entry.openCount === 0) return
      if (!entry.isKept) byPair.set(pair, entry)
      entry.isKept = true
      if (entry.isNoted) return
      entry.isNoted = true
      noted.push(entry)
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
      const ended: OpenCandle[] = []
      for (const [interval, series] of endings.entries()) {
        for (let next = series[0]; next !== undefined && next.endS <= nowS; next = series[0]) {
          series.shift()
          for (const entry of next.pairs) {
            if (bucketEnd(interval, entry.timeS[interval] as number) !== next.endS) continue
            // A reorg may open it again.
            entry.timeS[interval] = NEVER
            const candle = entry.candle(interval)
            if (candle === undefined) continue
            ended.push({ pair: entry.pair, interval, candle })
            drop(entry, interval)
          }
        }
      }
      return ended
    },
    clear() {
      byPair.clear()
      noted = []
      endings = INTERVALS.map(() => [])
      size = 0
    },
    get size() {
      return size
    },
  }
}
