/** The avsc type of updates whose parts are not read with them. */
import avro from 'avsc'
import type { AvroRecord } from '../../../schemas/avro.js'
import type { PairFigures } from '../domain/kept-figures.js'
import type { PairInfo } from '../domain/records.js'
import { type Branch, passBytes, passItems, type Tap, type TypeOptions, typeOf, Windows } from './avro-types.js'
import { LazyBody, LazyEvents, LazyWindows, type ListReaders, type ReadFigures, type ReadList } from './lazy-events.js'

/**
 * As `avroTypeOf`, but the figures, windows and events of entries are passed over, and read when they are asked for
 * (domain/pair-events.ts, domain/kept-figures.ts).
 */
export function lazyUpdateTypeOf(schema: AvroRecord): avro.types.RecordType {
  const type = typeOf(schema, {
    windows: PassedWindows,
    entry: (entry, options) => new PassedEntry(entry, options),
  })
  for (const list of ['tokens', 'moved_pairs', 'moved_tokens']) {
    const { type: entries } = type.field(list) as unknown as { type: { itemsType: avro.types.RecordType } }
    readWindowsLazily(entries.itemsType.recordConstructor.prototype as { kept: LazyWindows })
  }
  return type
}

class PassedWindows extends Windows {
  override _read(tap: Tap): never {
    const start = passLength(tap)
    return new LazyWindows(tap.buf, start, tap.pos) as never
  }
}

/** avsc's constructors set the field. */
function readWindowsLazily(entry: { kept: LazyWindows }): void {
  Object.defineProperty(entry, 'windows', {
    set(this: { kept: LazyWindows }, kept: LazyWindows) {
      this.kept = kept
    },
    get(this: { kept: LazyWindows }) {
      return this.kept.windows
    },
  })
}

type Field = { name: string; type: Branch }

/** The declarations lack what its constructor calls. */
const RecordType = avro.types.RecordType as unknown as new (
  schema: unknown,
  options: TypeOptions,
) => avro.Type & { readonly fields: readonly Field[] }

const FIRST_FIELDS = ['pair', 'info']
const LAST_FIELDS = ['windows', 'candles', 'trades', 'liquidity']

/** Entries of pairs. */
class PassedEntry extends RecordType {
  /** avsc calls it once, when the fields are there. */
  _createReader(): (tap: Tap) => LazyEntry {
    const names = this.fields.map(({ name }) => name)
    const figures = this.fields.slice(FIRST_FIELDS.length, -LAST_FIELDS.length)
    const expected = [...FIRST_FIELDS, ...figures.map(({ name }) => name), ...LAST_FIELDS]
    if (names.join() !== expected.join()) throw new Error(`unexpected order of fields in a pair's entry: ${names}`)
    const typeAt = (name: string): Branch => this.fields[names.indexOf(name)]?.type as Branch
    const itemsAt = (name: string): Branch => (typeAt(name) as unknown as { itemsType: Branch }).itemsType
    const readerAt =
      (name: string): ReadList<never> =>
      (list) =>
        typeAt(name).fromBuffer(list) as never[]
    const readers: ListReaders = { trades: readerAt('trades'), liquidity: readerAt('liquidity') }
    const readFigures = figuresReader(figures)
    const Entry = entryClass(figures)
    const [pairType, infoType, trade, liquidity] = [
      typeAt('pair'),
      typeAt('info'),
      itemsAt('trades'),
      itemsAt('liquidity'),
    ]
    const figureTypes = figures.map(({ type }) => type)
    return (tap) => {
      const { buf } = tap
      const pair = pairType._read(tap) as string
      const info = infoType._read(tap) as PairInfo | null
      const start = tap.pos
      for (const type of figureTypes) type._skip(tap)
      const figuresEnd = tap.pos
      const windows = passLength(tap)
      const windowsEnd = tap.pos
      const candles = passLength(tap)
      const body = new LazyBody(buf, readFigures, { start, figuresEnd, windows, windowsEnd, candles, end: tap.pos })
      const trades = { start: tap.pos, count: passItems(tap, trade) }
      const others = { start: tap.pos, count: passItems(tap, liquidity) }
      return new Entry(pair, info, body, new LazyEvents(buf, readers, body, trades, others, tap.pos))
    }
  }
}

/** Passes over bytes and their length; returns where they begin. */
function passLength(tap: Tap): number {
  const length = tap.readLong()
  const start = tap.pos
  passBytes(tap, length)
  return start
}

function figuresReader(figures: readonly Field[]): ReadFigures {
  const schema = { type: 'record', name: 'PairFigures', fields: figures.map(({ name, type }) => ({ name, type })) }
  const type = avro.Type.forSchema(schema as never, { omitRecordMethods: true })
  return (bytes) => type.fromBuffer(bytes) as PairFigures
}

/** An entry as `PairUpdate` has it. */
class LazyEntry {
  constructor(
    readonly pair: string,
    readonly info: PairInfo | null,
    readonly body: LazyBody,
    readonly events: LazyEvents,
  ) {}

  get windows() {
    return this.body.windows
  }

  get candles() {
    return this.body.packed
  }

  get trades() {
    return this.events.trades
  }

  get liquidity() {
    return this.events.liquidity
  }
}

/** With a getter for each figure. The first ones have a fixed place, and some are asked for of each entry. */
function entryClass(figures: readonly Field[]): typeof LazyEntry {
  class Entry extends LazyEntry {}
  const doubles = figures.findIndex(({ type }) => type.typeName !== 'double')
  for (const [index, { name }] of figures.entries())
    Object.defineProperty(Entry.prototype, name, {
      get(this: LazyEntry) {
        return index < doubles ? this.body.double(index) : this.body.figures[name as keyof PairFigures]
      },
    })
  return Entry
}
