import type { Interval } from '../../../core/domain/chains.js'
import { INTERVALS } from '../../../core/domain/chains.js'
import {
  AT,
  CANDLE_FIGURES,
  CANDLE_WIDTH,
  FIRST_FIGURE,
  isRemoved,
  type PackedCandles,
} from '../../../core/domain/packed-candles.js'
import type { Bar, Category } from '../candle-bars.js'
import type { Order } from '../near-rows.js'

const TIME = 0
const OPEN = 1
const FIRST = 2
const HIGH = 3
const LOW = 4
const CLOSE = 5
const VOLUME = 6
const WIDTH = 7
const MIN_ROWS = 16

/** How many of the newest candles are kept: a request may ask for 1,000, or for as many months of days. */
export const keptCandles = (interval: Interval): number => (interval === 'k1440' ? 4_000 : 1_100)

export type BarRange = { fromS: number; toS: number }

/** The newest candles of a pair in one interval and currency: ascending rows of doubles, without those that have no price. */
export class HotCandles {
  private rows: Float64Array
  private count = 0
  private readonly interval: number
  private readonly firstFigure: number
  /** Every candle from here on is kept; -Infinity: all of them. */
  private coveredFromS: number

  /** `bars` are ascending and, unless `isComplete`, the newest ones. */
  constructor(
    interval: Interval,
    category: Category,
    bars: readonly Bar[],
    isComplete: boolean,
    private readonly kept = keptCandles(interval),
  ) {
    this.interval = INTERVALS.indexOf(interval)
    this.firstFigure = FIRST_FIGURE + CANDLE_FIGURES.indexOf(`open_${category}`)
    this.rows = new Float64Array(Math.max(MIN_ROWS, bars.length) * WIDTH)
    for (const bar of bars) {
      const { timeS, open, first, high, low, close, volume } = bar
      this.rows.set([timeS, open, first, high, low, close, volume], this.count * WIDTH)
      this.count += 1
    }
    this.coveredFromS = isComplete ? Number.NEGATIVE_INFINITY : (bars[0]?.timeS ?? Number.POSITIVE_INFINITY)
  }

  get bytes(): number {
    return this.rows.length * Float64Array.BYTES_PER_ELEMENT
  }

  /** Takes over the candles of this interval from a pair's entry in an update. */
  apply(candles: PackedCandles): void {
    for (let at = 0; at < candles.length; at += CANDLE_WIDTH) {
      if (candles[at + AT.interval] !== this.interval) continue
      const timeS = candles[at + AT.timeS] as number
      if (timeS < this.coveredFromS) continue
      const hasPrice = !Number.isNaN(candles[at + this.firstFigure + CLOSE - OPEN])
      if (hasPrice && !isRemoved({ data: candles, at })) this.put(timeS, candles, at + this.firstFigure)
      else this.remove(timeS)
    }
  }

  /**
   * The last (or the first) `limit` bars of a range, ascending. Undefined if some of them may be older than what is kept;
   * `floorS`: what is older than this is not answered from here.
   */
  read(range: BarRange, order: Order, limit: number, floorS: number): Bar[] | undefined {
    const from = this.firstAtOrAfter(range.fromS)
    const end = this.firstAtOrAfter(range.toS + 1)
    const isCovered = range.fromS >= Math.max(this.coveredFromS, floorS)
    if (order === 'earliest') return isCovered ? this.bars(from, Math.min(end, from + limit)) : undefined
    const start = Math.max(from, end - limit)
    if (isCovered) return this.bars(start, end)
    return end - from >= limit && this.timeAt(start) >= floorS ? this.bars(start, end) : undefined
  }

  private bars(from: number, end: number): Bar[] {
    const bars: Bar[] = []
    for (let index = from; index < end; index += 1) bars.push(this.bar(index * WIDTH))
    return bars
  }

  private bar(at: number): Bar {
    const { rows } = this
    return {
      timeS: rows[at + TIME] as number,
      open: rows[at + OPEN] as number,
      first: rows[at + FIRST] as number,
      high: rows[at + HIGH] as number,
      low: rows[at + LOW] as number,
      close: rows[at + CLOSE] as number,
      volume: rows[at + VOLUME] as number,
    }
  }

  private put(timeS: number, candles: PackedCandles, figuresAt: number): void {
    const index = this.firstAtOrAfter(timeS)
    if (index === this.count || this.timeAt(index) !== timeS) this.makeRoomAt(index)
    const at = index * WIDTH
    this.rows[at + TIME] = timeS
    for (let figure = 0; figure < WIDTH - 1; figure += 1)
      this.rows[at + OPEN + figure] = candles[figuresAt + figure] as number
    if (this.count > 1.5 * this.kept) this.dropOldest(this.count - this.kept)
  }

  private remove(timeS: number): void {
    const index = this.firstAtOrAfter(timeS)
    if (index === this.count || this.timeAt(index) !== timeS) return
    this.rows.copyWithin(index * WIDTH, (index + 1) * WIDTH, this.count * WIDTH)
    this.count -= 1
  }

  private dropOldest(rows: number): void {
    this.rows = this.rows.slice(rows * WIDTH)
    this.count -= rows
    this.coveredFromS = this.timeAt(0)
  }

  private makeRoomAt(index: number): void {
    if ((this.count + 1) * WIDTH > this.rows.length) {
      const wider = new Float64Array(Math.ceil(this.rows.length * 1.5))
      wider.set(this.rows)
      this.rows = wider
    }
    this.rows.copyWithin((index + 1) * WIDTH, index * WIDTH, this.count * WIDTH)
    this.count += 1
  }

  private timeAt(index: number): number {
    return this.rows[index * WIDTH + TIME] as number
  }

  /** Requests are mostly about the end. */
  private firstAtOrAfter(timeS: number): number {
    if (this.count === 0 || timeS > this.timeAt(this.count - 1)) return this.count
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.timeAt(middle) < timeS) low = middle + 1
      else high = middle
    }
    return low
  }
}
