import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import { AT, CANDLE_WIDTH, type Candle, type PackedCandle, unpackCandle } from '../../core/domain/packed-candles.js'
import type { EntryCandles } from '../../core/domain/pair-events.js'

/** A position in a chain's updates. */
export type Position = { epoch: number; seq: number }

export function isAtOrBefore(one: Position, other: Position): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.seq <= other.seq)
}

type Change = Position & { pair: string; candles: EntryCandles }

/** Candles changed by updates not flushed yet: history merges them into the stored rows. */
export interface CandleOverlay {
  /** The candles of a pair's entry. */
  put(pair: string, candles: EntryCandles, at: Position): void
  /** A reorg removed the pair: drops its candles and hides its stored rows until the store has removed them too. */
  hidePair(pair: string, at: Position): void
  isHidden(pair: string): boolean
  /** By bucket start, including candles marked as removed. */
  of(pair: string, interval: Interval): ReadonlyMap<number, Candle>
  /** Drops what the store has flushed. */
  trim(flushed: Position): void
  clear(): void
  /** A candle counts once for each update that changed it. */
  readonly size: number
}

const NONE: ReadonlyMap<number, Candle> = new Map()

export function createCandleOverlay(): CandleOverlay {
  /** As they came: most are flushed without ever being read. */
  const byPair = new Map<string, Change[]>()
  const hidden = new Map<string, Position>()
  let changes: Change[] = []
  let flushed: Position = { epoch: -1, seq: -1 }
  let size = 0

  /** A change of a pair that was hidden since is in no list any more. */
  function drop(change: Change): void {
    const list = byPair.get(change.pair)
    if (list?.[0] !== change) return
    list.shift()
    size -= change.candles.count
    if (list.length === 0) byPair.delete(change.pair)
  }

  return {
    put(pair, candles, { epoch, seq }) {
      const change = { pair, candles, epoch, seq }
      if (isAtOrBefore(change, flushed) || candles.count === 0) return
      const list = byPair.get(pair)
      if (list === undefined) byPair.set(pair, [change])
      else list.push(change)
      changes.push(change)
      size += candles.count
    },
    trim(to) {
      if (isAtOrBefore(to, flushed)) return
      flushed = to
      let done = 0
      for (const change of changes) {
        if (!isAtOrBefore(change, flushed)) break
        drop(change)
        done += 1
      }
      if (done > 0) changes = changes.slice(done)
      for (const [pair, at] of hidden) if (isAtOrBefore(at, flushed)) hidden.delete(pair)
    },
    hidePair: (pair, at) => {
      for (const { candles } of byPair.get(pair) ?? []) size -= candles.count
      byPair.delete(pair)
      if (!isAtOrBefore(at, flushed)) hidden.set(pair, at)
    },
    isHidden: (pair) => hidden.has(pair),
    of: (pair, interval) => {
      const list = byPair.get(pair)
      if (list === undefined) return NONE
      const index = INTERVALS.indexOf(interval)
      const newest = new Map<number, PackedCandle>()
      for (const {
        candles: { packed: data },
      } of list)
        for (let at = 0; at < data.length; at += CANDLE_WIDTH)
          if (data[at + AT.interval] === index) newest.set(data[at + AT.timeS] as number, { data, at })
      return new Map([...newest].map(([timeS, candle]) => [timeS, unpackCandle(candle)]))
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
