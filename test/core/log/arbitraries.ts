/** Random values of any of our schemas, for property tests. */
import fc from 'fast-check'
import { type AvroRecord, type AvroType, type RecordName, schemaVersions } from '../../../schemas/avro.js'
import { eventTypeOf } from '../../../schemas/types-from-avro.js'
import { INTERVALS } from '../../../services/core/domain/chains.js'
import { CANDLE_WIDTH, FIRST_FIGURE } from '../../../services/core/domain/packed-candles.js'
import { SAME_AS_MAIN_PAIR, WINDOWS_LENGTH } from '../../../services/core/domain/packed-windows.js'

type Named = Map<string, AvroType>

export function newestSchema(record: RecordName): AvroRecord {
  return schemaVersions(record).at(-1) as AvroRecord
}

/** `sparse`: fields with a default may be absent. */
export function arbitraryRecord<T>(schema: AvroRecord, sparse = false): fc.Arbitrary<T> {
  return arbitraryOf(schema, new Map(), sparse) as fc.Arbitrary<T>
}

function arbitraryOf(type: AvroType, named: Named, sparse: boolean): fc.Arbitrary<unknown> {
  if (typeof type === 'string') {
    const known = named.get(type.replace(/^dextape\./, ''))
    return known === undefined ? arbitraryPrimitive(type) : arbitraryOf(known, named, sparse)
  }
  if (Array.isArray(type)) return fc.oneof(...type.map((branch) => arbitraryOf(branch, named, sparse)))
  switch (type.type) {
    case 'enum':
      named.set(type.name, type)
      return fc.constantFrom(...type.symbols)
    case 'bytes':
      return type.logicalType === 'candles' ? arbitraryCandles : arbitraryWindows
    case 'array':
      return fc.array(arbitraryOf(type.items, named, sparse), { maxLength: 5 })
    case 'record': {
      named.set(type.name, type)
      const fields = type.fields.map((field) => [field.name, arbitraryOf(field.type, named, sparse)] as const)
      const required = type.fields.filter((field) => !sparse || field.default === undefined)
      const eventType = eventTypeOf(type.name)
      const typeField = eventType === undefined ? {} : { type: fc.constant(eventType) }
      return fc.record(
        { ...typeField, ...Object.fromEntries(fields) },
        {
          requiredKeys: [...Object.keys(typeField), ...required.map(({ name }) => name)] as never[],
          noNullPrototype: true,
        },
      )
    }
  }
}

const arbitraryFigure = fc.oneof(fc.double(), fc.constantFrom(0, 1, Number.NaN))

const arbitraryCandles = fc
  .array(
    fc.tuple(
      fc.nat(INTERVALS.length - 1),
      fc.integer({ min: -604_800, max: 2 ** 40 }),
      fc.constantFrom(0, 1),
      ...Array.from({ length: CANDLE_WIDTH - FIRST_FIGURE }, () => arbitraryFigure),
    ),
    { maxLength: 12 },
  )
  .map((candles) => Float64Array.from(candles.flat()))

const arbitraryWindows = fc.oneof(
  fc.constant(SAME_AS_MAIN_PAIR),
  fc
    .array(arbitraryFigure, { minLength: WINDOWS_LENGTH, maxLength: WINDOWS_LENGTH })
    .map((figures) => Float64Array.from(figures)),
)

function arbitraryPrimitive(type: string): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'int':
      return fc.integer()
    case 'long':
      // avsc accepts only integers whose zigzag form fits into a double.
      return fc.oneof(fc.integer(), fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 }))
    case 'double':
      return fc.double()
    case 'string':
      return fc.string({ unit: 'grapheme', maxLength: 80 })
    case 'bytes':
      return fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
    default:
      throw new Error(`no arbitrary for ${type}`)
  }
}
