import { INTERVALS } from '../../core/domain/chains.js'
import type { Candle } from '../../core/domain/records.js'

/** A position in a chain's updates. */
export type Position = { epoch: number; seq: number }

export function isAtOrBefore(one: Position, other: Position): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.seq <= other.seq)
}

type Entry = Position & { candle: Candle }
type Change = Position & { pair: string; interval: string; timeS: number }

/** Candles changed by updates not flushed yet: history merges them into the stored rows. */
export interface CandleOverlay {
  put(pair: string, candle: Candle, at: Position): void
  /** A reorg removed the pair: drops its candles and hides its stored rows until the store has removed them too. */
  hidePair(pair: string, at: Position): void
  isHidden(pair: string): boolean
  /** By bucket start, including candles marked as removed. */
  of(pair: string, interval: string): ReadonlyMap<number, Candle>
  /** Drops what the store has flushed. */
  trim(flushed: Position): void
  clear(): void
  readonly size: number
}

const NONE: ReadonlyMap<number, Candle> = new Map()

export function createCandleOverlay(): CandleOverlay {
  const byPair = new Map<string, Map<number, Entry>>()
  const hidden = new Map<string, Position>()
  let changes: Change[] = []
  let flushed: Position = { epoch: -1, seq: -1 }
  let size = 0

  const keyOf = (pair: string, interval: string) => `${interval}|${pair}`

  function put(pair: string, candle: Candle, at: Position): void {
    if (isAtOrBefore(at, flushed)) return
    const key = keyOf(pair, candle.interval)
    const entries = byPair.get(key) ?? new Map<number, Entry>()
    byPair.set(key, entries)
    if (!entries.has(candle.time)) size += 1
    entries.set(candle.time, { candle, ...at })
    changes.push({ pair, interval: candle.interval, timeS: candle.time, ...at })
  }

  function drop(change: Change): void {
    const key = keyOf(change.pair, change.interval)
    const entries = byPair.get(key)
    const entry = entries?.get(change.timeS)
    if (entries === undefined || entry === undefined || !isAtOrBefore(entry, flushed)) return
    entries.delete(change.timeS)
    size -= 1
    if (entries.size === 0) byPair.delete(key)
  }

  function trim(to: Position): void {
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
  }

  return {
    put,
    trim,
    hidePair: (pair, at) => {
      for (const interval of INTERVALS) {
        const key = keyOf(pair, interval)
        size -= byPair.get(key)?.size ?? 0
        byPair.delete(key)
      }
      if (!isAtOrBefore(at, flushed)) hidden.set(pair, at)
    },
    isHidden: (pair) => hidden.has(pair),
    of: (pair, interval) => {
      const entries = byPair.get(keyOf(pair, interval))
      return entries === undefined ? NONE : new Map([...entries].map(([timeS, entry]) => [timeS, entry.candle]))
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
