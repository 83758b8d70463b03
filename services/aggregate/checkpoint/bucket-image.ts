/**
 * Buckets in a checkpoint. Neighbours have many figures in common, so a row has only those that differ from the row before, after a
 * number whose bits say which.
 */
import { BUCKET_WIDTH, type BucketRing } from '../state/bucket-ring.js'

const NO_ROW: Float64Array = new Float64Array(BUCKET_WIDTH)

/** All writers use the same space: a checkpoint packs some thousand values, one after the other. */
let space: Float64Array = new Float64Array(0)

export class BucketWriter {
  private readonly numbers: Float64Array
  private length = 0
  private previous = NO_ROW
  private previousAt = 0

  /** `rows`: how many will be added, at most. */
  constructor(rows: number) {
    const needed = rows * (1 + BUCKET_WIDTH)
    if (needed > space.length) space = new Float64Array(needed)
    this.numbers = space
  }

  /** Adds the buckets from index `from` up to before `to`. */
  add(ring: BucketRing, from: number, to: number): void {
    for (let index = from; index < to; index += 1) this.addRow(ring.data, ring.at(index))
  }

  /** A view, valid until the next writer is made. */
  finish(): Float64Array {
    return this.numbers.subarray(0, this.length)
  }

  private addRow(data: Float64Array, at: number): void {
    const { numbers, previous, previousAt, length: start } = this
    let bits = 0
    let end = start + 1
    for (let field = 0; field < BUCKET_WIDTH; field += 1) {
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

/** Reads rows as a ring appends them. `at`: where the next row begins. */
export type BucketReader = { take(count: number): Float64Array; readonly at: number }

export function readBuckets(numbers: Float64Array): BucketReader {
  const row = new Float64Array(BUCKET_WIDTH)
  let at = 0
  return {
    take(count) {
      const rows = new Float64Array(count * BUCKET_WIDTH)
      for (let to = 0; to < rows.length; to += BUCKET_WIDTH) {
        const bits = numbers[at] as number
        at += 1
        for (let field = 0; field < BUCKET_WIDTH; field += 1) {
          if ((bits & (1 << field)) === 0) continue
          row[field] = numbers[at] as number
          at += 1
        }
        rows.set(row, to)
      }
      return rows
    },
    get at() {
      return at
    },
  }
}

/** As checkpoints were written at first: every row whole. */
export function readWholeBuckets(numbers: Float64Array): BucketReader {
  let at = 0
  return {
    take(count) {
      const from = at
      at += count * BUCKET_WIDTH
      return numbers.subarray(from, at)
    },
    get at() {
      return at
    },
  }
}
