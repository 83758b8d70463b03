/**
 * Space for the buckets of a chain's pairs and tokens, in blocks cut from large arrays: most pairs trade rarely, and a hundred
 * thousand of them are a few objects to the garbage collector. An array has blocks of one size and is freed with its last block.
 */

/** Rows of a block. A ring that needs more has an array of its own: blocks of ever more sizes would be left over as it grows. */
const BLOCK_ROWS = [1, 2, 3, 4, 6, 8, 12, 16] as const
const LARGEST_BLOCK = 16
const ARRAY_BITS = 9
const ARRAY_ROWS = 1 << ARRAY_BITS

/** How many rows a ring reserves that needs so many. */
export function reservedRows(needed: number): number {
  return BLOCK_ROWS.find((rows) => rows >= needed) ?? needed + (needed >> 1)
}

export const isBlock = (rows: number): boolean => rows <= LARGEST_BLOCK

type BlockArray = {
  readonly data: Float64Array
  /** Rows of its blocks. */
  readonly size: number
  /** First row that was never used. */
  next: number
  /** First rows of freed blocks. */
  readonly freed: number[]
  used: number
}

export class BucketRows {
  private readonly arrays: (BlockArray | undefined)[] = []
  /** Numbers of arrays that were freed. */
  private readonly gaps: number[] = []
  /** By block size: numbers of the arrays with room. */
  private readonly open: number[][] = Array.from({ length: LARGEST_BLOCK + 1 }, () => [])

  constructor(private readonly width: number) {}

  /** Takes a block, with whatever was in it before. Its name is its first row, counted over all arrays. */
  take(size: number): number {
    const open = this.open[size] as number[]
    const number = open.at(-1) ?? this.addArray(size)
    const array = this.arrays[number] as BlockArray
    let row = array.freed.pop()
    if (row === undefined) {
      row = array.next
      array.next += size
    }
    array.used += 1
    if (isFull(array)) open.pop()
    return number * ARRAY_ROWS + row
  }

  give(block: number): void {
    const number = block >> ARRAY_BITS
    const array = this.arrays[number] as BlockArray
    const wasFull = isFull(array)
    array.used -= 1
    array.freed.push(this.firstRow(block))
    const open = this.open[array.size] as number[]
    if (wasFull) open.push(number)
    // The last one with room stays, or a ring that comes and goes would allocate it each time.
    if (array.used > 0 || open.length < 2) return
    this.arrays[number] = undefined
    this.gaps.push(number)
    open.splice(open.indexOf(number), 1)
  }

  arrayOf(block: number): Float64Array {
    return (this.arrays[block >> ARRAY_BITS] as BlockArray).data
  }

  /** The block's first row in its array. */
  firstRow(block: number): number {
    return block & (ARRAY_ROWS - 1)
  }

  get bytes(): number {
    return this.arrays.reduce((sum, array) => sum + (array?.data.byteLength ?? 0), 0)
  }

  private addArray(size: number): number {
    const number = this.gaps.pop() ?? this.arrays.length
    this.arrays[number] = { data: new Float64Array(ARRAY_ROWS * this.width), size, next: 0, freed: [], used: 0 }
    this.open[size]?.push(number)
    return number
  }
}

function isFull({ freed, next, size }: BlockArray): boolean {
  return freed.length === 0 && next + size > ARRAY_ROWS
}
