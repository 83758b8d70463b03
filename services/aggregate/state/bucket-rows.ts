/**
 * Space for the buckets of a chain's pairs and tokens, in blocks cut from large arrays: most pairs trade rarely, and a hundred
 * thousand of them are a few objects to the garbage collector. A freed block is used again for one of its size.
 */

/** Rows of a block. A ring that needs more has an array of its own: blocks of ever more sizes would be left over as it grows. */
const BLOCK_ROWS = [1, 2, 3, 4, 6, 8, 12, 16] as const
const LARGEST_BLOCK = 16
const ARRAY_BITS = 10
const ARRAY_ROWS = 1 << ARRAY_BITS

/** How many rows a ring reserves that needs so many. */
export function reservedRows(needed: number): number {
  return BLOCK_ROWS.find((rows) => rows >= needed) ?? needed + (needed >> 1)
}

export const isBlock = (rows: number): boolean => rows <= LARGEST_BLOCK

export class BucketRows {
  private readonly arrays: Float64Array[] = []
  /** First unused row of the newest array. */
  private next = ARRAY_ROWS
  /** Freed blocks by their rows. */
  private readonly freed: number[][] = Array.from({ length: LARGEST_BLOCK + 1 }, () => [])

  constructor(private readonly width: number) {}

  /** Takes a block, with whatever was in it before. Its name is its first row, counted over all arrays. */
  take(rows: number): number {
    const used = this.freed[rows]?.pop()
    if (used !== undefined) return used
    if (this.next + rows > ARRAY_ROWS) {
      this.arrays.push(new Float64Array(ARRAY_ROWS * this.width))
      this.next = 0
    }
    const block = (this.arrays.length - 1) * ARRAY_ROWS + this.next
    this.next += rows
    return block
  }

  give(block: number, rows: number): void {
    this.freed[rows]?.push(block)
  }

  arrayOf(block: number): Float64Array {
    return this.arrays[block >> ARRAY_BITS] as Float64Array
  }

  /** The block's first row in its array. */
  firstRow(block: number): number {
    return block & (ARRAY_ROWS - 1)
  }
}
