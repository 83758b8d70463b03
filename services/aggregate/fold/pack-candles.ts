/** Candles of a pair, as its buckets are now, in the form of an update. */
import { INTERVALS } from '../../core/domain/chains.js'
import { AT, CANDLE_WIDTH, FIRST_FIGURE, type PackedCandles } from '../../core/domain/packed-candles.js'
import {
  type BucketRing,
  CLOSE,
  FIRST,
  HIGH,
  LOW,
  NATIVE,
  OPEN,
  QUOTE,
  TIME,
  USD,
  VOLUME,
} from '../state/bucket-ring.js'
import type { FoldState } from '../state/fold-state.js'
import { shortLivedDoubles } from './short-lived-doubles.js'

/** A candle that changed: interval index and bucket start. */
export type CandleKey = { interval: number; timeS: number }

/** Gathers the candles that a block changed of one pair after the other: each interval has one, and rarely more. */
export class CandlePacker {
  private scratch: PackedCandles = new Float64Array(2 * INTERVALS.length * CANDLE_WIDTH)
  private length = 0

  begin(): void {
    this.length = 0
  }

  /** A bucket without any price is no candle. */
  add(ring: BucketRing, interval: number, index: number): void {
    const { data } = ring
    const at = ring.at(index)
    if (!hasPrice(data, at)) return
    if (this.length === this.scratch.length) this.widen()
    putCandle(data, at, interval, this.scratch, this.length)
    this.length += CANDLE_WIDTH
  }

  packed(): PackedCandles {
    const { scratch, length } = this
    const packed = shortLivedDoubles(length)
    for (let at = 0; at < length; at += 1) packed[at] = scratch[at] as number
    return packed
  }

  private widen(): void {
    const wider = new Float64Array(2 * this.scratch.length)
    wider.set(this.scratch)
    this.scratch = wider
  }
}

/** The pair's candles at these places; those that do not exist any more are marked as removed. */
export function restoredCandles(state: FoldState, pair: number, keys: readonly CandleKey[]): PackedCandles {
  const packed = new Float64Array(keys.length * CANDLE_WIDTH)
  for (const [n, { interval, timeS }] of keys.entries()) {
    const to = n * CANDLE_WIDTH
    const ring = state.pairs.active[pair]?.rings[interval]
    const index = ring === undefined ? -1 : ring.indexOf(timeS)
    if (ring !== undefined && index >= 0) {
      putCandle(ring.data, ring.at(index), interval, packed, to)
      if (hasPrice(ring.data, ring.at(index))) continue
    } else packed.fill(Number.NaN, to + FIRST_FIGURE, to + CANDLE_WIDTH)
    packed[to + AT.interval] = interval
    packed[to + AT.timeS] = timeS
    packed[to + AT.removed] = 1
  }
  return packed
}

function hasPrice(data: Float64Array, at: number): boolean {
  return !(
    Number.isNaN(data[at + USD + OPEN] as number) &&
    Number.isNaN(data[at + NATIVE + OPEN] as number) &&
    Number.isNaN(data[at + QUOTE + OPEN] as number)
  )
}

function putCandle(data: Float64Array, at: number, interval: number, into: PackedCandles, to: number): void {
  into[to + AT.interval] = interval
  into[to + AT.timeS] = data[at + TIME] as number
  into[to + AT.removed] = 0
  putCurrency(data, at + USD, into, to + AT.openU)
  putCurrency(data, at + NATIVE, into, to + AT.openM)
  putCurrency(data, at + QUOTE, into, to + AT.openR)
}

/** A candle's high and low cover its open; without a good price (NaN) they are the open. */
function putCurrency(data: Float64Array, from: number, into: PackedCandles, to: number): void {
  const open = data[from + OPEN] as number
  const high = data[from + HIGH] as number
  const low = data[from + LOW] as number
  into[to] = open
  into[to + 1] = data[from + FIRST] as number
  into[to + 2] = Number.isNaN(high) ? open : Math.max(open, high)
  into[to + 3] = Number.isNaN(low) ? open : Math.min(open, low)
  into[to + 4] = data[from + CLOSE] as number
  into[to + 5] = data[from + VOLUME] as number
}
