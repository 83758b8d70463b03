/** Program bytes (Borsh: little-endian, no padding) read in order. What does not fit its type is `Malformed`, never a number made up from it. */
import { encodeBase58 } from './base58.js'
import { Malformed } from './malformed.js'

export { Malformed } from './malformed.js'

const KEY_BYTES = 32
const TEXT = new TextDecoder('utf-8', { fatal: true })
/** Longer than any name or address a program takes; a stranger's length must not become our memory. */
const MAX_TEXT_BYTES = 4096

export class ByteReader {
  private readonly view: DataView

  constructor(
    private readonly bytes: Uint8Array,
    private at = 0,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  u8(): number {
    return this.view.getUint8(this.take(1))
  }

  u16(): number {
    return this.view.getUint16(this.take(2), true)
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true)
  }

  i32(): number {
    return this.view.getInt32(this.take(4), true)
  }

  u64(): bigint {
    return this.view.getBigUint64(this.take(8), true)
  }

  i64(): bigint {
    return this.view.getBigInt64(this.take(8), true)
  }

  u128(): bigint {
    const low = this.u64()
    return low | (this.u64() << 64n)
  }

  i128(): bigint {
    const low = this.u64()
    return low | (this.i64() << 64n)
  }

  /** 0 or 1: another byte says that this is no bool, and the layout another one. */
  bool(): boolean {
    const value = this.u8()
    if (value > 1) throw new Malformed(`${value} at byte ${this.at - 1} is no bool`)
    return value === 1
  }

  pubkey(): string {
    return encodeBase58(this.raw(KEY_BYTES))
  }

  /** UTF-8 after its length in four bytes. */
  string(): string {
    const length = this.u32()
    if (length > MAX_TEXT_BYTES) throw new Malformed(`a text of ${length} bytes`)
    try {
      return TEXT.decode(this.raw(length))
    } catch (error) {
      throw error instanceof Malformed ? error : new Malformed(`the text before byte ${this.at} is no UTF-8`)
    }
  }

  option<T>(read: (reader: ByteReader) => T): T | null {
    return this.bool() ? read(this) : null
  }

  raw(length: number): Uint8Array {
    const start = this.take(length)
    return this.bytes.subarray(start, start + length)
  }

  skip(length: number): this {
    this.take(length)
    return this
  }

  /** For layouts that never grew. Programs append fields to their events, so most are read without it. */
  end(): void {
    if (this.left > 0) throw new Malformed(`${this.left} bytes are left over of ${this.bytes.length}`)
  }

  private take(length: number): number {
    const start = this.at
    if (start + length > this.bytes.length)
      throw new Malformed(`${length} bytes from byte ${start} on: there are ${this.bytes.length}`)
    this.at = start + length
    return start
  }
}
