/**
 * Rows in ClickHouse's RowBinary format: a tenth of the CPU of JSON here, a quarter of it in the engine. Each value is written as
 * its column's type; null is the column's default (NaN, an empty string, -1 for decimals, 0).
 */
import { CANDLE_FIGURES } from '../domain/packed-candles.js'
import { PAIR_AMOUNTS, TOKEN_AMOUNTS } from '../domain/state-figures.js'
import { TABLES, type TableName } from './tables.js'

export type ColumnType =
  | 'String'
  | 'Nullable(String)'
  | 'DateTime'
  | 'UInt8'
  | 'UInt32'
  | 'UInt64'
  | 'Int16'
  | 'Int64'
  | 'Float64'
  | 'Array(Float64)'

export type Cell = string | number | Float64Array | null | undefined

const TIMES = ['time', 'created_at', 'first_trade_at', 'last_trade_at', 'updated_at', 'launch_at']

const TYPES: Record<string, ColumnType> = {
  ...typed('DateTime', TIMES),
  ...typed('UInt8', ['sell', 'flags', 'target', 'is_deleted']),
  ...typed('UInt32', ['tx_index', 'log_index', 'sub']),
  ...typed('UInt64', ['block_number', 'tx_seq', 'created_block', 'first_trade_block', 'tx_count', 'version']),
  ...typed('UInt64', ['epoch', 'seq', 'number', 'now', 'final_now', 'finalized']),
  ...typed('Int16', ['decimals', 'decimals0', 'decimals1']),
  ...typed('Int64', ['holders']),
  ...typed('Nullable(String)', ['name', 'symbol', 'owner', 'risk', 'logo_url', 'links']),
  ...typed('Array(Float64)', ['windows']),
  ...typed('Float64', [...PAIR_AMOUNTS, ...TOKEN_AMOUNTS, 'quote_native', 'price0_usd', 'price1_usd', 'amount_usd']),
  ...typed('Float64', ['amount_native', 'fee', 'volume_24h', 'supply', 'supply_left', 'launch_progress']),
  ...typed('Float64', ['launch_price', 'holders_since', 'main_price_usd', 'main_open_usd']),
  ...typed('Float64', CANDLE_FIGURES),
}

function typed(type: ColumnType, names: readonly string[]): Record<string, ColumnType> {
  return Object.fromEntries(names.map((name) => [name, type]))
}

/** Reads a column so that times are numbers, as they are written. */
export const readExpression = (name: string): string => (TIMES.includes(name) ? `toUInt32(${name})` : name)

export function columnTypes(table: TableName): ColumnType[] {
  return TABLES[table].map((name) => TYPES[name] ?? 'String')
}

const FIRST_BYTES = 4096
/** The memory is kept for later rows, so copies are few. */
const GROWTH = 1.5
/** Most of a length's bytes: seven bits each. */
const LENGTH_BYTES = 5
const WORD = 2 ** 32

/** Gathers rows of one table. Values are written one by one, in the order of TABLES[table], or row by row. */
export class RowWriter {
  private bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  private view: DataView = new DataView(this.bytes.buffer)
  /** Where the next value is written. It may be set back to write over values of the same length, and then to the end again. */
  position = 0
  private readonly types: ColumnType[]

  constructor(table: TableName) {
    this.types = columnTypes(table)
  }

  /** What was written: a view, valid until something else is. */
  finish(): Uint8Array {
    return this.bytes.subarray(0, this.position)
  }

  /** For other rows, in the same memory. */
  clear(): void {
    this.position = 0
  }

  /** Bytes of memory. */
  get capacity(): number {
    return this.bytes.length
  }

  row(cells: readonly Cell[]): void {
    for (let at = 0; at < this.types.length; at += 1) this.cell(this.types[at] as ColumnType, cells[at] ?? null)
  }

  text(value: string | null): void {
    const text = value ?? ''
    this.reserve(LENGTH_BYTES + text.length * 3)
    if (text.length < 0x80 && this.ascii(text)) return
    this.size(Buffer.byteLength(text))
    this.position += this.bytes.write(text, this.position)
  }

  doubles(values: Float64Array | null): void {
    const count = values?.length ?? 0
    this.reserve(LENGTH_BYTES)
    this.size(count)
    for (let at = 0; at < count; at += 1) this.double(values?.[at] ?? null)
  }

  /** What was written there. */
  uint32At(position: number): number {
    return this.view.getUint32(position, true)
  }

  private size(count: number): void {
    let left = count
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.bytes[this.position++] = (left & 0x7f) | 0x80
    this.bytes[this.position++] = left
  }

  double(value: number | null): void {
    this.reserve(8)
    this.view.setFloat64(this.position, value !== null && Number.isFinite(value) ? value : Number.NaN, true)
    this.position += 8
  }

  uint8(value: number): void {
    this.reserve(1)
    this.bytes[this.position++] = value
  }

  uint32(value: number): void {
    this.reserve(4)
    this.view.setUint32(this.position, value, true)
    this.position += 4
  }

  uint64(value: number): void {
    this.reserve(8)
    this.view.setUint32(this.position, value % WORD, true)
    this.view.setUint32(this.position + 4, Math.floor(value / WORD), true)
    this.position += 8
  }

  private cell(type: ColumnType, value: Exclude<Cell, undefined>): void {
    switch (type) {
      case 'Array(Float64)':
        return this.doubles(value as Float64Array | null)
      case 'String':
        return this.text(value as string | null)
      case 'Nullable(String)':
        this.uint8(value === null ? 1 : 0)
        if (value !== null) this.text(value as string)
        return
      case 'Float64':
        return this.double(value as number | null)
      case 'UInt8':
        return this.uint8(Number(value))
      case 'DateTime':
      case 'UInt32':
        return this.uint32(Number(value))
      case 'UInt64':
        return this.uint64(Number(value))
      case 'Int16':
        this.reserve(2)
        this.view.setInt16(this.position, value === null ? -1 : Number(value), true)
        this.position += 2
        return
      case 'Int64':
        this.reserve(8)
        this.view.setBigInt64(this.position, BigInt(Number(value)), true)
        this.position += 8
    }
  }

  /** Writes a short text of ASCII characters; false, with nothing written, if it has others. */
  private ascii(text: string): boolean {
    const { bytes } = this
    let at = this.position
    bytes[at++] = text.length
    for (let place = 0; place < text.length; place += 1) {
      const code = text.charCodeAt(place)
      if (code > 0x7f) return false
      bytes[at++] = code
    }
    this.position = at
    return true
  }

  private reserve(more: number): void {
    if (this.position + more <= this.bytes.length) return
    const wider = Buffer.allocUnsafeSlow(Math.ceil(GROWTH * (this.position + more)))
    wider.set(this.bytes.subarray(0, this.position))
    this.bytes = wider
    this.view = new DataView(wider.buffer)
  }
}

export type ReadCell = string | number | (number | null)[] | null

/** The values of rows, as JSON has them: null for NaN. */
export function* readRows(table: TableName, rows: Uint8Array): Generator<ReadCell[]> {
  const types = columnTypes(table)
  const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)
  let at = 0

  function size(): number {
    let count = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[at++] ?? 0
      count += (byte & 0x7f) * scale
      if (byte < 0x80) return count
    }
  }

  function text(): string {
    const length = size()
    at += length
    return bytes.toString('utf8', at - length, at)
  }

  function double(): number | null {
    at += 8
    const value = bytes.readDoubleLE(at - 8)
    return Number.isNaN(value) ? null : value
  }

  function cell(type: ColumnType): ReadCell {
    switch (type) {
      case 'Array(Float64)':
        return Array.from({ length: size() }, double)
      case 'String':
        return text()
      case 'Nullable(String)':
        return bytes[at++] === 1 ? null : text()
      case 'Float64':
        return double()
      case 'UInt8':
        return bytes[at++] ?? 0
      case 'Int16':
        at += 2
        return bytes.readInt16LE(at - 2)
      case 'DateTime':
      case 'UInt32':
        at += 4
        return bytes.readUInt32LE(at - 4)
      case 'UInt64':
        at += 8
        return Number(bytes.readBigUInt64LE(at - 8))
      case 'Int64':
        at += 8
        return Number(bytes.readBigInt64LE(at - 8))
    }
  }

  while (at < bytes.length) yield types.map(cell)
}
