/**
 * The buckets of one interval in time order: appended at the end, dropped at the front, rarely inserted between. A bucket is a row
 * of doubles: a candle in three currencies, and the volumes and counts of a pair (or of a token's windows). HIGH and LOW are of
 * good prices only; the published candle's high and low also cover its open (update-entries.ts).
 */
import { type BucketRows, isBlock, reservedRows } from './bucket-rows.js'

export const TIME = 0

/** Where each currency's six values start: USD, native, quote. */
export const CURRENCIES = [1, 7, 13] as const
export const USD = 1
export const NATIVE = 7
export const QUOTE = 13
export const OPEN = 0
export const FIRST = 1
export const HIGH = 2
export const LOW = 3
export const CLOSE = 4
export const VOLUME = 5

export const BUY_VOLUME = 19
export const SELL_VOLUME = 20
export const BUYS = 21
export const SELLS = 22
export const AMOUNT = 23
/** Fields below this are restored from the undo stack; the wallet counts above it by inverse steps. */
export const JOURNALED = 24
/** Wallets whose last trade, buy, sell is in this bucket: the distinct count of a window is a sum over its buckets. */
export const MAKERS = 24
export const BUYERS = 25
export const SELLERS = 26

export const BUCKET_WIDTH = 27

const NOTHING = new Float64Array(0)
type Closes = readonly [number, number, number]
const NO_CLOSES: Closes = [Number.NaN, Number.NaN, Number.NaN]
const NO_CHUNKS: readonly number[] = []
const NO_BLOCK = -1

export class BucketRing {
  /** The array that holds the ring's rows, and in most cases those of others. */
  data: Float64Array = NOTHING
  /** First reserved row in `data`, and how many are reserved. */
  private base = 0
  private reserved = 0
  private block = NO_BLOCK
  private start = 0
  count = 0
  /** Closes (USD, native, quote) of the last bucket dropped at the front. */
  before = NO_CLOSES
  /** Earliest bucket time changed since the last checkpoint. */
  changedFrom = Number.POSITIVE_INFINITY
  /** Chunks of time in which the checkpoint stores buckets. */
  chunks: readonly number[] = NO_CHUNKS

  constructor(private readonly space: BucketRows) {}

  /** Position in `data` of the i-th kept bucket. */
  at(index: number): number {
    return (this.base + this.start + index) * BUCKET_WIDTH
  }

  time(index: number): number {
    return this.data[this.at(index) + TIME] as number
  }

  lastTime(): number {
    return this.count === 0 ? Number.NEGATIVE_INFINITY : this.time(this.count - 1)
  }

  /** How many buckets are before `timeS`: the index of the first at or after it. */
  lowerBound(timeS: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.time(middle) < timeS) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Index of the bucket that starts at `timeS`, or -1. */
  indexOf(timeS: number): number {
    if (this.lastTime() === timeS) return this.count - 1
    const index = this.lowerBound(timeS)
    return index < this.count && this.time(index) === timeS ? index : -1
  }

  /** True when a bucket starts after `afterS` and not after `untilS`. */
  hasBetween(afterS: number, untilS: number): boolean {
    const index = this.lowerBound(afterS + 1)
    return index < this.count && this.time(index) <= untilS
  }

  /** Inserts an empty bucket and returns its index. Its opens are the previous closes. */
  open(timeS: number): number {
    const index = timeS > this.lastTime() ? this.count : this.lowerBound(timeS)
    this.makeRoom()
    const at = this.at(index)
    this.data.copyWithin(at + BUCKET_WIDTH, at, this.at(this.count))
    this.count += 1
    this.data.fill(0, at, at + BUCKET_WIDTH)
    this.data[at + TIME] = timeS
    for (let c = 0; c < 3; c += 1) {
      const base = at + (CURRENCIES[c] as number)
      const close = this.closeBefore(index, c)
      this.data[base + OPEN] = close
      this.data[base + FIRST] = Number.NaN
      this.data[base + HIGH] = Number.NaN
      this.data[base + LOW] = Number.NaN
      this.data[base + CLOSE] = close
    }
    this.changed(timeS)
    return index
  }

  remove(index: number): void {
    const at = this.at(index)
    this.changed(this.time(index))
    this.data.copyWithin(at, at + BUCKET_WIDTH, this.at(this.count))
    this.count -= 1
  }

  /** The close, in a currency, of the bucket before the index-th; NaN when there is none. */
  closeBefore(index: number, currency: number): number {
    if (index === 0) return this.before[currency] as number
    return this.data[this.at(index - 1) + (CURRENCIES[currency] as number) + CLOSE] as number
  }

  /** Drops buckets that start before `timeS`, but never the last one. */
  dropBefore(timeS: number): void {
    while (this.count > 1 && this.time(0) < timeS) {
      this.before = [this.closeBefore(1, 0), this.closeBefore(1, 1), this.closeBefore(1, 2)]
      this.start += 1
      this.count -= 1
    }
  }

  changed(timeS: number): void {
    if (timeS < this.changedFrom) this.changedFrom = timeS
  }

  /** The buckets from index `from` up to before `to`, as they are laid out; a view, valid until the ring changes. */
  rows(from: number, to: number): Float64Array {
    return this.data.subarray(this.at(from), this.at(to))
  }

  /** Adds buckets, laid out as `rows` gives them, at the end. */
  append(rows: Float64Array): void {
    const count = this.count + rows.length / BUCKET_WIDTH
    if (this.start + count > this.reserved) this.moveTo(count)
    this.data.set(rows, this.at(this.count))
    this.count = count
  }

  clone(): BucketRing {
    const copy = new BucketRing(this.space)
    copy.append(this.rows(0, this.count))
    copy.before = this.before
    copy.changedFrom = Number.NEGATIVE_INFINITY
    return copy
  }

  /** Gives its rows back; the ring must not be used afterwards. */
  dispose(): void {
    if (this.block !== NO_BLOCK) this.space.give(this.block)
    this.block = NO_BLOCK
    this.data = NOTHING
  }

  private makeRoom(): void {
    if (this.start + this.count < this.reserved) return
    if (this.start === 0 || reservedRows(this.count + 1) > this.reserved) {
      this.moveTo(this.count + 1)
      return
    }
    this.data.copyWithin(this.base * BUCKET_WIDTH, this.at(0), this.at(this.count))
    this.start = 0
  }

  /** Moves the buckets to where `needed` rows fit. */
  private moveTo(needed: number): void {
    const { space, block } = this
    const kept = this.rows(0, this.count)
    this.reserved = reservedRows(needed)
    this.block = isBlock(this.reserved) ? space.take(this.reserved) : NO_BLOCK
    this.data = this.block === NO_BLOCK ? new Float64Array(this.reserved * BUCKET_WIDTH) : space.arrayOf(this.block)
    this.base = this.block === NO_BLOCK ? 0 : space.firstRow(this.block)
    this.start = 0
    this.data.set(kept, this.at(0))
    if (block !== NO_BLOCK) space.give(block)
  }
}
