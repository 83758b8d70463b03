/**
 * Buckets in a checkpoint. Many have figures in common, so a row has only those that differ from another row, its base, after a
 * number whose bits say which.
 */
import { bucketEnd } from '../../core/domain/buckets.js'
import { BUCKET_WIDTH, type BucketRing, TIME } from '../state/bucket-ring.js'

const NO_ROW: Float64Array = new Float64Array(BUCKET_WIDTH)
/** Numbers of a row that has no figure in common with its base. */
const WIDEST_ROW = 2 + BUCKET_WIDTH

/** All writers use the same space: a checkpoint packs some thousand values, one after the other. */
let space: Float64Array = new Float64Array(0)

export class BucketWriter {
  private readonly numbers: Float64Array
  private length = 0
  private previous = NO_ROW
  private previousAt = 0

  /** `rows`: how many will be added, at most; `others`: how many numbers beside them. */
  constructor(rows: number, others = 0) {
    const needed = rows * WIDEST_ROW + others
    if (needed > space.length) space = new Float64Array(needed)
    this.numbers = space
  }

  /** Adds the buckets from index `from` up to before `to`, each as it differs from the one before. */
  add(ring: BucketRing, from: number, to: number): void {
    for (let index = from; index < to; index += 1) this.addRow(TIME, ring.data, ring.at(index))
  }

  /**
   * Adds a whole ring, each bucket as it differs from the newest one of a shorter interval within it: a pair that rarely
   * trades has most trades alone in both. The shortest interval has each as it differs from the one before.
   */
  addWithin(ring: BucketRing, interval: number, shorter: BucketRing | undefined): void {
    this.previous = NO_ROW
    this.previousAt = 0
    for (let index = 0; index < ring.count; index += 1) {
      const timeS = ring.time(index)
      if (shorter !== undefined) {
        const base = newestWithin(shorter, interval, timeS)
        this.previous = base < 0 ? NO_ROW : shorter.data
        this.previousAt = base < 0 ? 0 : shorter.at(base)
      }
      this.put(timeS)
      this.addRow(TIME + 1, ring.data, ring.at(index))
    }
  }

  put(value: number): void {
    this.numbers[this.length] = value
    this.length += 1
  }

  /** A view, valid until the next writer is made. */
  finish(): Float64Array {
    return this.numbers.subarray(0, this.length)
  }

  private addRow(firstField: number, data: Float64Array, at: number): void {
    const { numbers, previous, previousAt, length: start } = this
    let bits = 0
    let end = start + 1
    for (let field = firstField; field < BUCKET_WIDTH; field += 1) {
      const value = data[at + field] as number
      if (Object.is(value, previous[previousAt + field])) continue
      bits |= 1 << field
      numbers[end] = value
      end += 1
    }
    numbers[start] = bits
    this.length = end
    this.previous = data
    this.previousAt = at
  }
}

/** The index of the newest bucket that starts before one of a longer interval ends; -1: there is none. */
function newestWithin(shorter: BucketRing, interval: number, timeS: number): number {
  return shorter.lowerBound(bucketEnd(interval, timeS)) - 1
}

export class BucketReader {
  /** Where the next row begins. */
  at = 0
  private readonly row = new Float64Array(BUCKET_WIDTH)

  constructor(private readonly numbers: Float64Array) {}

  /** Rows as a ring appends them. */
  take(count: number): Float64Array {
    const rows = new Float64Array(count * BUCKET_WIDTH)
    for (let to = 0; to < rows.length; to += BUCKET_WIDTH) {
      this.readRow()
      rows.set(this.row, to)
    }
    return rows
  }

  /** Reads what `addWithin` added, into an empty ring. */
  readWithin(ring: BucketRing, count: number, interval: number, shorter: BucketRing | undefined): void {
    const { row, numbers } = this
    row.fill(0)
    for (let index = 0; index < count; index += 1) {
      const timeS = numbers[this.at] as number
      this.at += 1
      if (shorter !== undefined) {
        const base = newestWithin(shorter, interval, timeS)
        row.set(base < 0 ? NO_ROW : shorter.rows(base, base + 1))
      }
      row[TIME] = timeS
      this.readRow()
      ring.append(row)
    }
  }

  private readRow(): void {
    const { row, numbers } = this
    const bits = numbers[this.at] as number
    this.at += 1
    for (let field = 0; field < BUCKET_WIDTH; field += 1) {
      if ((bits & (1 << field)) === 0) continue
      row[field] = numbers[this.at] as number
      this.at += 1
    }
  }
}

/** As checkpoints were written at first: every row whole. */
export class WholeRowReader {
  at = 0

  constructor(private readonly numbers: Float64Array) {}

  take(count: number): Float64Array {
    const from = this.at
    this.at += count * BUCKET_WIDTH
    return this.numbers.subarray(from, this.at)
  }
}
