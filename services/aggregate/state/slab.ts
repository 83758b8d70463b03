/** Rows of doubles by id, in chunks: compact for many rows, cheap to copy into a journal. */
import type { UndoStack } from './undo-stack.js'

const CHUNK_BITS = 9
const CHUNK_ROWS = 1 << CHUNK_BITS

export class Slab {
  private readonly chunks: Float64Array[] = []
  length = 0

  constructor(readonly stride: number) {}

  /** Adds a row of NaN and returns its id. */
  add(): number {
    const id = this.length
    if (id >> CHUNK_BITS === this.chunks.length) this.chunks.push(new Float64Array(CHUNK_ROWS * this.stride))
    this.length = id + 1
    const chunk = this.chunk(id)
    const at = this.at(id)
    chunk.fill(Number.NaN, at, at + this.stride)
    return id
  }

  /** Removes all rows, and keeps their memory. */
  clear(): void {
    this.length = 0
  }

  /** Removes the newest row. */
  pop(): void {
    this.length -= 1
  }

  get(id: number, field: number): number {
    return this.chunk(id)[this.at(id) + field] as number
  }

  set(id: number, field: number, value: number): void {
    this.chunk(id)[this.at(id) + field] = value
  }

  /** A whole row; a view, valid until the row changes. */
  view(id: number): Float64Array {
    return this.part(id, 0, this.stride)
  }

  setRow(id: number, values: Float64Array): void {
    this.chunk(id).set(values.subarray(0, this.stride), this.at(id))
  }

  /** Some of a row's values; a view, valid until the row changes. */
  part(id: number, field: number, count: number): Float64Array {
    const at = this.at(id) + field
    return this.chunk(id).subarray(at, at + count)
  }

  setPart(id: number, field: number, values: Float64Array): void {
    this.chunk(id).set(values, this.at(id) + field)
  }

  pushRow(id: number, stack: UndoStack): void {
    stack.pushSlice(this.chunk(id), this.at(id), this.stride)
  }

  popRow(id: number, stack: UndoStack): void {
    stack.popSlice(this.chunk(id), this.at(id), this.stride)
  }

  private chunk(id: number): Float64Array {
    return this.chunks[id >> CHUNK_BITS] as Float64Array
  }

  private at(id: number): number {
    return (id & (CHUNK_ROWS - 1)) * this.stride
  }
}
