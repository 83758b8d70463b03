/**
 * Rows of a batch that have a time, as the bytes that are inserted: candles and hours. A row that changes again is written over. Rows
 * of one series (a pair's candles of an interval, its hours) are linked from the newest to the first.
 */
import type { RowWriter } from '../../core/store/row-binary.js'

/** Of a series without rows. */
export const NO_ROW = 0

/** Its time is what comes before a row's figures. */
const TIME_BYTES = 4
const FIRST_ROWS = 256

export class TimedRows {
  /** How many there are. */
  count = 0
  /** By row: where its figures begin, and the row of its series before it. */
  private places = new Int32Array(FIRST_ROWS)
  private before = new Int32Array(FIRST_ROWS)

  constructor(protected readonly writer: RowWriter) {}

  clear(): void {
    this.count = 0
  }

  /** The row of that time in a series; `NO_ROW`: there is none. */
  find(newest: number, timeS: number): number {
    if (newest === NO_ROW || this.timeOf(newest) < timeS) return NO_ROW
    let row = newest
    while (row !== NO_ROW && this.timeOf(row) !== timeS) row = this.before[row] as number
    return row
  }

  /** Adds the row whose key, up to its time, was just written; its figures come next. Returns the series' newest row. */
  add(newest: number, timeS: number): number {
    this.count += 1
    if (this.count === this.places.length) this.widen()
    const row = this.count
    this.places[row] = this.writer.position
    if (newest === NO_ROW || this.timeOf(newest) < timeS) {
      this.before[row] = newest
      return row
    }
    this.before[row] = this.before[newest] as number
    this.before[newest] = row
    return newest
  }

  /** Places the writer at a row's figures; returns where it was. */
  seek(row: number): number {
    const { position } = this.writer
    this.writer.position = this.places[row] as number
    return position
  }

  private timeOf(row: number): number {
    return this.writer.uint32At((this.places[row] as number) - TIME_BYTES)
  }

  private widen(): void {
    const [places, before] = [this.places, this.before]
    this.places = new Int32Array(2 * places.length)
    this.places.set(places)
    this.before = new Int32Array(2 * before.length)
    this.before.set(before)
  }
}
