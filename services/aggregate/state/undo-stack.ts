/** A stack of doubles with the old values a block overwrote; a block's journal has one. */
export class UndoStack {
  private data: Float64Array
  length: number

  constructor(values: Float64Array, length = 0) {
    this.data = values
    this.length = length
  }

  push(value: number): void {
    if (this.length === this.data.length) this.grow(1)
    this.data[this.length] = value
    this.length += 1
  }

  pop(): number {
    this.length -= 1
    return this.data[this.length] as number
  }

  /** The value `depth` below the top; 1 is the top. */
  peek(depth: number): number {
    return this.data[this.length - depth] as number
  }

  pushSlice(source: Float64Array, at: number, count: number): void {
    if (this.length + count > this.data.length) this.grow(count)
    const { data, length } = this
    for (let i = 0; i < count; i += 1) data[length + i] = source[at + i] as number
    this.length = length + count
  }

  popSlice(target: Float64Array, at: number, count: number): void {
    const from = this.length - count
    const { data } = this
    for (let i = 0; i < count; i += 1) target[at + i] = data[from + i] as number
    this.length = from
  }

  /** A view, valid until the stack changes. */
  values(): Float64Array {
    return this.data.subarray(0, this.length)
  }

  private grow(more: number): void {
    const wider = new Float64Array(Math.max(this.data.length * 2, this.length + more))
    wider.set(this.data)
    this.data = wider
  }
}
