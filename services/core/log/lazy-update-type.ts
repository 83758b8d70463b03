/** The avsc type of updates whose events are not read with them. */
import type avro from 'avsc'
import type { AvroRecord } from '../../../schemas/avro.js'
import {
  type Branch,
  Candles,
  passBytes,
  passItems,
  SizedArray,
  type Tap,
  type TypeOptions,
  typeOf,
} from './avro-types.js'
import { LazyEvents, type ListReaders, type Passed, type ReadList } from './lazy-events.js'

/** As `avroTypeOf`, but the events of pairs are passed over, and read when they are asked for (domain/pair-events.ts). */
export function lazyUpdateTypeOf(schema: AvroRecord): avro.types.RecordType {
  const lists = new Map<avro.Type, ReadList<unknown>>()
  const type = typeOf(
    schema,
    (list, options) => {
      const { passing, readList } = passedArray(list, options)
      lists.set(passing, readList)
      return passing
    },
    PassedCandles,
  )
  const pairs = type.field('pairs')?.type as unknown as { itemsType: avro.types.RecordType }
  const readerOf = (field: string) => lists.get(pairs.itemsType.field(field)?.type as avro.Type)
  const readers = { trades: readerOf('trades'), liquidity: readerOf('liquidity') } as ListReaders
  readEventsLazily(pairs.itemsType.recordConstructor.prototype as LazyEntry, readers)
  return type
}

/** Reads over the list. What it returns is valid until its next read: an entry takes it at once. */
function passedArray(schema: unknown, options: TypeOptions): { passing: avro.Type; readList: ReadList<unknown> } {
  // avsc freezes its types, so this is beside the class.
  const passed = newPassed()
  let isReading = false

  class PassedArray extends SizedArray {
    override _read(tap: Tap): never {
      if (isReading) return super._read(tap) as never
      passed.buf = tap.buf
      passed.start = tap.pos
      passed.count = passItems(tap, this.itemsType as Branch)
      passed.end = tap.pos
      return passed as never
    }
  }
  const passing = new PassedArray(schema as never, options)
  const readList = (list: Buffer): unknown[] => {
    isReading = true
    try {
      return passing.fromBuffer(list) as unknown[]
    } finally {
      isReading = false
    }
  }
  return { passing, readList }
}

class PassedCandles extends Candles {
  override _read(tap: Tap): never {
    const length = tap.readLong()
    passedCandles.buf = tap.buf
    passedCandles.start = tap.pos
    passBytes(tap, length)
    passedCandles.end = tap.pos
    return passedCandles as never
  }
}

const newPassed = (): Passed => ({ buf: Buffer.alloc(0), start: 0, end: 0, count: 0 })
const passedCandles = newPassed()

type LazyEntry = { events: LazyEvents }

/** avsc's constructor of entries sets the fields in the schema's order: candles, trades, liquidity. */
function readEventsLazily(entry: LazyEntry, readers: ListReaders): void {
  let candles: Passed
  let trades: Passed
  Object.defineProperties(entry, {
    candles: {
      set(this: LazyEntry, passed: Passed) {
        candles = passed
      },
      get(this: LazyEntry) {
        return this.events.candles.packed
      },
    },
    trades: {
      set(this: LazyEntry, passed: Passed) {
        trades = passed
      },
      get(this: LazyEntry) {
        return this.events.trades
      },
    },
    liquidity: {
      set(this: LazyEntry, passed: Passed) {
        this.events = new LazyEvents(passed.buf, readers, candles, trades, passed)
      },
      get(this: LazyEntry) {
        return this.events.liquidity
      },
    },
  })
}
