/** Reads program bytes (Borsh: little-endian, no padding) in order. Throws `Malformed` for anything that does not fit its type. */

import { Malformed } from '../decode-errors.js'
import { encodeBase58 } from '../keys/base58.js'

const KEY_BYTES = 32
const TEXT = new TextDecoder('utf-8', { fatal: true })
/** Longer than any name or URI a program accepts; an untrusted length must not decide how much memory is used. */
const MAX_TEXT_BYTES = 4096

export class ByteReader {
  constructor(
    private readonly bytes: Uint8Array,
    private at = 0,
  ) {}

  get left(): number {
    return this.bytes.length - this.at
  }

  u8(): number {
    const start = this.take(1)
    return this.bytes[start] ?? 0
  }

  u16(): number {
    return this.u8() | (this.u8() << 8)
  }

  u32(): number {
    const start = this.take(4)
    return u32At(this.bytes, start)
  }

  i32(): number {
    return this.u32() | 0
  }

  u64(): bigint {
    const start = this.take(8)
    return u64At(this.bytes, start)
  }

  i64(): bigint {
    return BigInt.asIntN(64, this.u64())
  }

  u128(): bigint {
    const low = this.u64()
    const high = this.u64()
    return high === 0n ? low : low | (high << 64n)
  }

  i128(): bigint {
    const low = this.u64()
    return low | (this.i64() << 64n)
  }

  /** 0 or 1: any other byte means that the layout is another one. */
  bool(): boolean {
    const value = this.u8()
    if (value > 1) throw new Malformed(`${value} at byte ${this.at - 1} is not a bool`)
    return value === 1
  }

  pubkey(): string {
    return encodeBase58(this.raw(KEY_BYTES))
  }

  /** UTF-8 after its length in four bytes. */
  string(): string {
    const length = this.u32()
    if (length > MAX_TEXT_BYTES) throw new Malformed(`a text of ${length} bytes is too long`)
    try {
      return TEXT.decode(this.raw(length))
    } catch (error) {
      throw error instanceof Malformed ? error : new Malformed(`the text before byte ${this.at} is not UTF-8`)
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

  /** For layouts that never grew. Programs append fields to their events, so most are read without this check. */
  end(): void {
    if (this.left > 0) throw new Malformed(`${this.left} of ${this.bytes.length} bytes are left over`)
  }

  private take(length: number): number {
    const start = this.at
    if (start + length > this.bytes.length)
      throw new Malformed(`expected ${length} bytes at byte ${start}, but there are only ${this.bytes.length}`)
    this.at = start + length
    return start
  }
}

/** Builds 64-bit integers without a runtime call for each: a transaction has a hundred. All of Node's platforms are little-endian. */
const WHOLE = new BigUint64Array(1)
const HALVES = new Uint32Array(WHOLE.buffer)
const HALF = 2 ** 32
/** Doubles hold all numbers of this many digits exactly. */
const EXACT_DIGITS = 15
const MAX_DIGITS = 20
const U64_MAX = 2n ** 64n - 1n
const [ZERO, NINE] = [48, 57]

/** Little-endian; the caller checks the length. */
export function u64At(bytes: Uint8Array, at: number): bigint {
  HALVES[0] = u32At(bytes, at)
  HALVES[1] = u32At(bytes, at + 4)
  return WHOLE[0] ?? 0n
}

export function u32At(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
  return (low | ((bytes[at + 3] ?? 0) << 24)) >>> 0
}

/** Null: not a 64-bit unsigned integer. */
export function u64OfNumber(value: number): bigint | null {
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value) return exact(value)
  return Number.isInteger(value) && value >= 0 && value < 2 ** 64 ? BigInt(value) : null
}

/** From decimal digits. Null: not a 64-bit unsigned integer. */
export function u64OfText(text: string): bigint | null {
  const { length } = text
  if (length === 0 || length > MAX_DIGITS) return null
  let number = 0
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE) return null
    number = number * 10 + (code - ZERO)
  }
  if (length <= EXACT_DIGITS) return exact(number)
  const whole = BigInt(text)
  return whole <= U64_MAX ? whole : null
}

function exact(value: number): bigint {
  const high = Math.floor(value / HALF)
  HALVES[0] = value - high * HALF
  HALVES[1] = high
  return WHOLE[0] ?? 0n
}
