import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import {
  AT,
  CANDLE_WIDTH,
  type Candle,
  figureOf,
  type PackedCandle,
  type PackedCandles,
  unpackCandle,
} from '../../core/domain/packed-candles.js'

/** A position in a chain's updates. */
export type Position = { epoch: number; seq: number }

export function isAtOrBefore(one: Position, other: Position): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.seq <= other.seq)
}

type Entry = { candle: PackedCandle; at: Position }
type Change = { pair: string; candles: PackedCandles; at: Position }

/** Candles changed by updates not flushed yet: history merges them into the stored rows. */
export interface CandleOverlay {
  /** The candles of a pair's entry. */
  put(pair: string, candles: PackedCandles, at: Position): void
  /** A reorg removed the pair: drops its candles and hides its stored rows until the store has removed them too. */
  hidePair(pair: string, at: Position): void
  isHidden(pair: string): boolean
  /** By bucket start, including candles marked as removed. */
  of(pair: string, interval: Interval): ReadonlyMap<number, Candle>
  /** Drops what the store has flushed. */
  trim(flushed: Position): void
  clear(): void
  readonly size: number
}

const NONE: ReadonlyMap<number, Candle> = new Map()

export function createCandleOverlay(): CandleOverlay {
  /** By pair, then by interval and bucket start. */
  const byPair = new Map<string, Map<number, Entry>>()
  const hidden = new Map<string, Position>()
  let changes: Change[] = []
  let flushed: Position = { epoch: -1, seq: -1 }
  let size = 0

  function put(pair: string, candles: PackedCandles, { epoch, seq }: Position): void {
    const at = { epoch, seq }
    if (candles.length === 0 || isAtOrBefore(at, flushed)) return
    let entries = byPair.get(pair)
    if (entries === undefined) {
      entries = new Map()
      byPair.set(pair, entries)
    }
    size -= entries.size
    for (let start = 0; start < candles.length; start += CANDLE_WIDTH) {
      const candle = { data: candles, at: start }
      entries.set(keyOf(candle), { candle, at })
    }
    size += entries.size
    changes.push({ pair, candles, at })
  }

  /** Drops the candles of a change, unless a later one replaced them. */
  function drop({ pair, candles }: Change): void {
    const entries = byPair.get(pair)
    if (entries === undefined) return
    size -= entries.size
    for (let start = 0; start < candles.length; start += CANDLE_WIDTH) {
      const key = keyOf({ data: candles, at: start })
      const entry = entries.get(key)
      if (entry !== undefined && isAtOrBefore(entry.at, flushed)) entries.delete(key)
    }
    size += entries.size
    if (entries.size === 0) byPair.delete(pair)
  }

  function trim(to: Position): void {
    if (isAtOrBefore(to, flushed)) return
    flushed = to
    let done = 0
    for (const change of changes) {
      if (!isAtOrBefore(change.at, flushed)) break
      drop(change)
      done += 1
    }
    if (done > 0) changes = changes.slice(done)
    for (const [pair, at] of hidden) if (isAtOrBefore(at, flushed)) hidden.delete(pair)
  }

  return {
    put,
    trim,
    hidePair: (pair, at) => {
      size -= byPair.get(pair)?.size ?? 0
      byPair.delete(pair)
      if (!isAtOrBefore(at, flushed)) hidden.set(pair, at)
    },
    isHidden: (pair) => hidden.has(pair),
    of: (pair, interval) => {
      const entries = byPair.get(pair)
      if (entries === undefined) return NONE
      const index = INTERVALS.indexOf(interval)
      const candles = new Map<number, Candle>()
      for (const { candle } of entries.values())
        if (figureOf(candle, AT.interval) === index) candles.set(figureOf(candle, AT.timeS), unpackCandle(candle))
      return candles
    },
    clear: () => {
      byPair.clear()
      hidden.clear()
      changes = []
      size = 0
    },
    get size() {
      return size
    },
  }
}

/** Bucket starts are below 2^40. */
function keyOf(candle: PackedCandle): number {
  return figureOf(candle, AT.interval) * 2 ** 40 + figureOf(candle, AT.timeS)
}
