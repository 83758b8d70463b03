/**
 * avsc types for our schemas. They differ from plain avsc in five ways. Packed candles and windows are read and written as arrays
 * of numbers. The union of events reads and writes plain events with
 * a `type`, without a wrapper object per event. An array's length is checked against the remaining bytes, since damaged bytes
 * could announce any length. ASCII strings, which nearly all of ours are, are written in one pass. Every NaN has the same bytes.
 */
import avro from 'avsc'
import type { AvroRecord, AvroType } from '../../../schemas/avro.js'
import { eventTypeOf } from '../../../schemas/types-from-avro.js'
import { candlesForm, type PackedForm, viewOf, windowsForm } from './packed-forms.js'

/** The parts of avsc's reader and types that its declarations omit. */
export type Tap = { buf: Buffer; pos: number; readLong(): number; writeLong(value: number): void }
type Reader = { _read(tap: Tap): unknown }
type CheckHook = (value: unknown, type: avro.Type) => void
export type Branch = avro.Type &
  Reader & {
    _write(tap: Tap, value: unknown): void
    _skip(tap: Tap): void
    _check(value: unknown, flags: unknown, hook?: CheckHook, path?: string[]): boolean
  }
type ResolverLike = { _read?: (tap: Tap) => unknown; itemsType?: Reader }
export type TypeOptions = Parameters<typeof avro.Type.forSchema>[1]

export function avroTypeOf(schema: AvroRecord): avro.types.RecordType {
  return typeOf(schema, { windows: Windows })
}

/** The types of some parts: `entry` makes that of a pair's entry, which is as any record without it. */
export type PartTypes = { windows: unknown; entry?: (schema: unknown, options: TypeOptions) => avro.Type }

export function typeOf(schema: AvroRecord, { windows, entry }: PartTypes): avro.types.RecordType {
  const typeHook = (part: unknown, options: TypeOptions): avro.Type | undefined => {
    if (entry !== undefined && recordNameOf(part as AvroType) === 'PairUpdate') return entry(part, options)
    if (isEventUnion(part)) return new EventUnion(part, options)
    if (isEventList(part)) return new SizedArray(part as never, options)
    if (isArraySchema(part)) return new BoundedArray(part as never, options)
    if (part === 'string') return new PlainString()
    if (part === 'double') return new OneNaN()
    return undefined
  }
  // avsc declares the hook's options as complete; it passes the ones given here.
  const options = {
    omitRecordMethods: true,
    typeHook,
    logicalTypes: { candles: Candles, windows },
  } as unknown as TypeOptions
  return avro.Type.forSchema(schema as never, options) as avro.types.RecordType
}

/** Why one of two schemas cannot read what the other wrote; undefined when both can. */
export function incompatibility(a: AvroRecord, b: AvroRecord): string | undefined {
  const [typeA, typeB] = [avroTypeOf(a), avroTypeOf(b)]
  try {
    typeA.createResolver(typeB)
    typeB.createResolver(typeA)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function isEventUnion(part: unknown): part is AvroRecord[] {
  return (
    Array.isArray(part) &&
    part.length > 0 &&
    (part as AvroType[]).every((branch) => eventTypeOf(recordNameOf(branch)) !== undefined)
  )
}

function recordNameOf(branch: AvroType): string {
  return typeof branch === 'object' && !Array.isArray(branch) && branch.type === 'record' ? branch.name : ''
}

function isArraySchema(part: unknown): boolean {
  return typeof part === 'object' && part !== null && (part as { type?: unknown }).type === 'array'
}

/** The lists of trades and liquidity events of a pair's entry, which readers may pass over. */
function isEventList(part: unknown): boolean {
  return isArraySchema(part) && EVENT_RECORDS.includes(recordNameOf((part as { items: AvroType }).items))
}

const EVENT_RECORDS = ['Trade', 'LiquidityTrade']

/** `type` is the event's own property and not its prototype's, so that a spread, a clone and JSON keep it. */
class EventUnion extends avro.types.LogicalType {
  private readonly branches: Branch[]
  private readonly eventTypes: string[]
  private readonly indexByType: Map<string, number>

  constructor(schema: AvroRecord[], options: TypeOptions) {
    // As ready types: the hook would treat the schemas as another union of events.
    const branches = schema.map((branch) => avro.Type.forSchema(branch as never, options))
    super(branches as never, options)
    this.branches = branches as Branch[]
    this.eventTypes = schema.map(({ name }) => eventTypeOf(name) ?? name)
    this.indexByType = new Map(this.eventTypes.map((type, index) => [type, index]))
  }

  _read(tap: Tap): object {
    const index = tap.readLong()
    return readEvent(this.branches[index], this.eventTypes[index], tap)
  }

  _write(tap: Tap, event: { type?: unknown } | null | undefined): void {
    const index = this.indexByType.get(event?.type as string)
    const branch = index === undefined ? undefined : this.branches[index]
    if (index === undefined || branch === undefined) {
      throw new Error(`unknown event type ${JSON.stringify(event?.type)}`)
    }
    tap.writeLong(index)
    branch._write(tap, event)
  }

  _check(event: { type?: unknown } | null | undefined, flags: unknown, hook?: CheckHook, path?: string[]): boolean {
    const index = this.indexByType.get(event?.type as string)
    const branch = index === undefined ? undefined : this.branches[index]
    if (branch !== undefined) return branch._check(event, flags, hook, path)
    hook?.(event, this)
    return false
  }

  /** Reads another version's union: its branches are matched by name. */
  _update(resolver: ResolverLike, writer: avro.Type, options: unknown): void {
    if (!(writer instanceof EventUnion)) return
    const readers = writer.branches.map((branch) => {
      const own = this.branches.find(({ name }) => name === branch.name)
      if (own === undefined) throw new Error(`no event type reads ${branch.name}`)
      return own.createResolver(branch, options as never) as unknown as Reader
    })
    const { eventTypes } = writer
    resolver._read = (tap) => {
      const index = tap.readLong()
      return readEvent(readers[index], eventTypes[index], tap)
    }
  }
}

function readEvent(reader: Reader | undefined, type: string | undefined, tap: Tap): object {
  if (reader === undefined) throw new Error('unknown event type')
  const event = reader._read(tap) as { type?: string | undefined }
  event.type = type
  return event
}

/** The declarations lack its constructor. */
const StringType = avro.types.StringType as unknown as new () => Branch

class PlainString extends StringType {
  override _write(tap: Tap, value: unknown): void {
    if (typeof value !== 'string' || value.length > LONGEST_PLAIN || !writePlain(tap, value)) super._write(tap, value)
  }
}

/** For longer ones avsc is faster. */
const LONGEST_PLAIN = 128
const MOST_IN_ONE_BYTE = 63

/** Writes length and characters; false, with the position unchanged, if one is not ASCII or there is no room. */
function writePlain(tap: Tap, text: string): boolean {
  const { buf, pos } = tap
  const { length } = text
  if (pos + 2 + length > buf.length) return false
  let at = pos
  if (length <= MOST_IN_ONE_BYTE) buf[at++] = length << 1
  else {
    buf[at++] = ((length << 1) & 0x7f) | 0x80
    buf[at++] = length >> 6
  }
  for (let place = 0; place < length; place++) {
    const code = text.charCodeAt(place)
    if (code > 0x7f) return false
    buf[at++] = code
  }
  tap.pos = at
  return true
}

const DoubleType = avro.types.DoubleType as unknown as new () => Branch

/** A NaN's sign depends on how the code that made it was compiled, but a record must be the same bytes in every process. */
class OneNaN extends DoubleType {
  override _write(tap: Tap, value: unknown): void {
    if (!Number.isNaN(value)) {
      super._write(tap, value)
      return
    }
    const { buf, pos } = tap
    tap.pos += NAN_BYTES.length
    if (tap.pos <= buf.length) buf.set(NAN_BYTES, pos)
  }
}

const NAN_BYTES = Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf8, 0x7f)

class BoundedArray extends avro.types.ArrayType {
  /** Also the reader of resolvers, whose `itemsType` it then uses. */
  _read(this: { itemsType: Reader }, tap: Tap): unknown[] {
    const items = this.itemsType
    const values: unknown[] = []
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      if (count < 0) {
        count = -count
        tap.readLong()
      }
      assertCount(tap, count)
      for (let index = 0; index < count; index++) values.push(items._read(tap))
    }
    return values
  }

  _skip(tap: Tap): void {
    passItems(tap, this.itemsType as Branch)
  }
}

/** Passes over an array; returns how many items it has. */
export function passItems(tap: Tap, items: Branch): number {
  let passed = 0
  for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
    passed += Math.abs(count)
    if (count < 0) passBytes(tap, tap.readLong())
    else {
      assertCount(tap, count)
      for (let index = 0; index < count; index++) items._skip(tap)
    }
  }
  return passed
}

/** Says how many bytes its items have, so that a reader can pass over them: a form that Avro allows for any array. */
export class SizedArray extends BoundedArray {
  _write(tap: Tap, values: readonly unknown[]): void {
    if (!Array.isArray(values) || values.length === 0) {
      PLAIN_ARRAY._write.call(this as never, tap, values)
      return
    }
    const items = this.itemsType as Branch
    tap.writeLong(-values.length)
    const sizeAt = tap.pos
    tap.pos += EXPECTED_SIZE_BYTES
    const from = tap.pos
    for (const value of values) items._write(tap, value)
    const size = tap.pos - from
    const start = sizeAt + bytesOfLength(size)
    if (start !== from && Math.max(start, from) + size <= tap.buf.length) tap.buf.copyWithin(start, from, from + size)
    tap.pos = sizeAt
    tap.writeLong(size)
    tap.pos += size
    tap.writeLong(0)
  }
}

const PLAIN_ARRAY = avro.types.ArrayType.prototype as unknown as Branch
/** Of a length from 64 to 8,191: that of one to a dozen trades. */
const EXPECTED_SIZE_BYTES = 2

function bytesOfLength(length: number): number {
  let bytes = 1
  for (let left = length; left >= 64; left = Math.floor(left / 128)) bytes += 1
  return bytes
}

export function passBytes(tap: Tap, count: number): void {
  const left = tap.buf.length - tap.pos
  if (count < 0 || count > left) throw new Error(`a field of ${count} bytes, ${left} are left`)
  tap.pos += count
}

/** Every item of our arrays takes a byte at least. */
function assertCount(tap: Tap, count: number): void {
  if (count > tap.buf.length - tap.pos) throw new Error(`array of ${count} items in ${tap.buf.length} bytes`)
}

/** Bytes that are an array of numbers in memory. */
abstract class Packed extends avro.types.LogicalType {
  protected abstract readonly form: PackedForm

  _read(tap: Tap): Float64Array {
    const length = tap.readLong()
    const from = tap.pos
    passBytes(tap, length)
    return this.form.read(viewOf(tap.buf), from, from + length)
  }

  _write(tap: Tap, packed: Float64Array): void {
    if (!this.form.accepts(packed)) throw new Error('not an array of packed numbers')
    const length = this.form.prepare(packed)
    tap.writeLong(length)
    if (tap.pos + length <= tap.buf.length) this.form.write(packed, viewOf(tap.buf), tap.pos)
    tap.pos += length
  }

  _check(value: unknown, _flags: unknown, hook?: CheckHook): boolean {
    if (this.form.accepts(value)) return true
    hook?.(value, this)
    return false
  }

  /** Reads what another version of the schema wrote; a registry may have dropped what says that the bytes are packed. */
  override _resolve(writer: avro.Type): ((value: never) => Float64Array) | undefined {
    if (writer.constructor === this.constructor) return (packed: Float64Array) => packed
    if (writer.typeName !== 'bytes') return undefined
    return (bytes: Uint8Array) => this.form.read(viewOf(bytes), 0, bytes.length)
  }
}

class Candles extends Packed {
  protected override readonly form = candlesForm
}

export class Windows extends Packed {
  protected override readonly form = windowsForm
}
