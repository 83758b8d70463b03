import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AvroRecord, RECORD_NAMES, type RecordName } from '../../../schemas/avro.js'
import { DextapeError } from '../../../services/core/domain/errors.js'
import type { Block, BlockUpdate, DeadLetter, Retract, TradeRecord } from '../../../services/core/domain/records.js'
import { type Codec, createCodec, type DecodedRecord } from '../../../services/core/log/codec.js'
import type { SchemaRegistry } from '../../../services/core/log/registry.js'
import { arbitraryRecord, newestSchema } from './arbitraries.js'
import { memoryRegistry } from './memory-registry.js'

const TOPIC = 'dex.blocks.eth'

/** `update` is only read: `block_update` replaced it. */
const WRITTEN = RECORD_NAMES.filter((name) => name !== 'update')
type Written = Exclude<RecordName, 'update'>

function encodeAny(codec: Codec, name: Written, record: unknown): Buffer {
  switch (name) {
    case 'block':
      return codec.encodeBlock(TOPIC, record as Block)
    case 'retract':
      return codec.encodeRetract(TOPIC, record as Retract)
    case 'block_update':
      return codec.encodeUpdate(TOPIC, record as BlockUpdate)
    case 'dead_letter':
      return codec.encodeDeadLetter(TOPIC, record as DeadLetter)
    case 'trade':
      return codec.encodeTrade(TOPIC, record as TradeRecord)
  }
}

const KINDS = {
  block: 'block',
  retract: 'retract',
  block_update: 'update',
  dead_letter: 'dead',
  trade: 'trade',
} as const

const recordOf = (decoded: DecodedRecord): unknown => (decoded as unknown as Record<string, unknown>)[decoded.kind]

const swap = {
  type: 'swap' as const,
  tx_index: 0,
  log_index: 3,
  tx_hash: '0xt',
  pool: '0xp',
  amm: 'uniswap_v2',
  sender: '0xs',
  recipient: '0xr',
  wallet: '0xw',
  token_in: '0xi',
  amount_in: '1',
  token_out: '0xo',
  amount_out: '2',
}
const block = {
  chain: 'eth',
  number: 7,
  hash: '0xb',
  parent_hash: '0xa',
  time: 1_700_000_000,
  finalized_number: 1,
  events: [swap],
}

describe('texts', () => {
  const codec = createCodec(memoryRegistry())

  it.each([0, 1, 63, 64, 127, 128, 129, 8191, 8192, 100_000])('of %i characters round-trip, ASCII or not', (length) => {
    for (const text of [
      'x'.repeat(length),
      'é'.repeat(length),
      `${'x'.repeat(length)}é`,
      `${'x'.repeat(length)}\u{1f600}`,
    ]) {
      const decoded = codec.decodeLogRecord(codec.encodeBlock(TOPIC, { ...block, events: [{ ...swap, wallet: text }] }))
      expect(decoded).toMatchObject({ kind: 'block', block: { events: [{ wallet: text, token_out: '0xo' }] } })
    }
  })
})

it('encodes every NaN to the same bytes', () => {
  const codec = createCodec(memoryRegistry())
  const [negative = 0] = new Float64Array(Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf8, 0xff).buffer)
  const { tx_index, log_index, tx_hash, pool } = swap
  const token = { token: '0xi', platform: 'fourmeme', stage: 'curve' as const, pool }
  const launch = { type: 'launch' as const, tx_index, log_index, tx_hash, ...token }
  const written = [Number.NaN, negative].map((progress) =>
    codec.encodeBlock(TOPIC, { ...block, events: [{ ...launch, progress }] }).toString('hex'),
  )
  expect(written[1]).toBe(written[0])
  expect(codec.decodeLogRecord(Buffer.from(written[0] ?? '', 'hex'))).toMatchObject({
    block: { events: [{ progress: Number.NaN, pool }] },
  })
})

describe.each(WRITTEN)('%s', (name) => {
  const codec = createCodec(memoryRegistry())

  it('round-trips', () => {
    fc.assert(
      fc.property(arbitraryRecord(newestSchema(name)), (record) => {
        const decoded = codec.decodeLogRecord(encodeAny(codec, name, record))
        expect(decoded.kind).toBe(KINDS[name])
        expect(recordOf(decoded)).toEqual(record)
      }),
      { numRuns: 60 },
    )
  })

  it('decodes or rejects damaged bytes, without crashing', () => {
    fc.assert(
      fc.property(
        arbitraryRecord(newestSchema(name)),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat()),
        (record, edits, cut) => {
          const bytes = encodeAny(codec, name, record)
          for (const [at, value] of edits) bytes[at % bytes.length] = value
          const damaged = cut === null ? bytes : bytes.subarray(0, cut % bytes.length)
          try {
            codec.decodeLogRecord(damaged)
          } catch (error) {
            expect(error).toBeInstanceOf(DextapeError)
            expect((error as DextapeError).code).toBe('undecodable')
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('rejects a truncated or extended record', () => {
    fc.assert(
      fc.property(arbitraryRecord(newestSchema(name)), fc.nat(), (record, cut) => {
        const bytes = encodeAny(codec, name, record)
        expect(() => codec.decodeLogRecord(bytes.subarray(0, cut % bytes.length))).toThrow(DextapeError)
        expect(() => codec.decodeLogRecord(Buffer.concat([bytes, Buffer.from([0])]))).toThrow(/trailing/)
      }),
      { numRuns: 60 },
    )
  })
})

describe('the codec', () => {
  it('writes the registry’s wire format', () => {
    const codec = createCodec(memoryRegistry([newestSchema('update'), newestSchema('retract')]))
    const retract = { chain: 'e', from_number: 2, from_hash: 'b', to_number: 1, to_hash: 'a' }
    expect(codec.encodeRetract(TOPIC, retract).toString('hex')).toBe(
      '0000000002' + '0265' + '04' + '0262' + '02' + '0261',
    )
  })

  it('fills in fields that a recording omits', () => {
    const codec = createCodec(memoryRegistry())
    expect(codec.decodeLogRecord(codec.encodeBlock(TOPIC, block))).toEqual({
      kind: 'block',
      block: {
        ...block,
        part: 0,
        last_part: 0,
        events: [{ ...swap, sub: 0, reserve0: null, reserve1: null, sqrt_price: null, profile: null }],
      },
    })
  })

  it('events keep their type through a spread and JSON', () => {
    const codec = createCodec(memoryRegistry())
    const decoded = codec.decodeLogRecord(codec.encodeBlock(TOPIC, block))
    const [event] = decoded.kind === 'block' ? decoded.block.events : []
    expect({ ...event }).toMatchObject({ type: 'swap' })
    expect(JSON.parse(JSON.stringify(event)).type).toBe('swap')
  })

  it('accepts any block without its optional fields', () => {
    const codec = createCodec(memoryRegistry())
    fc.assert(
      fc.property(arbitraryRecord<Block>(newestSchema('block'), true), (sparse) => {
        const decoded = codec.decodeLogRecord(codec.encodeBlock(TOPIC, sparse))
        expect(decoded).toMatchObject({ kind: 'block', block: sparse })
      }),
      { numRuns: 60 },
    )
  })

  it('grows its buffer for a larger record', () => {
    const codec = createCodec(memoryRegistry())
    const large = { ...block, events: Array.from({ length: 5_000 }, (_, log_index) => ({ ...swap, log_index })) }
    const decoded = codec.decodeLogRecord(codec.encodeBlock(TOPIC, large))
    expect(decoded.kind === 'block' && decoded.block.events.map(({ log_index }) => log_index)).toEqual(
      large.events.map(({ log_index }) => log_index),
    )
  })

  it.each([
    ['an unknown event type', { ...block, events: [{ ...swap, type: 'gift' }] }, /events\.0/],
    ['a missing field', { ...block, events: [{ ...swap, pool: undefined }] }, /events\.0\.pool/],
    ['a number beyond what doubles hold', { ...block, number: 2 ** 60 }, /number/],
    ['an amount that is not text', { ...block, events: [{ ...swap, amount_in: 1 }] }, /events\.0\.amount_in = 1/],
  ])('rejects %s and reports where', (_what, wrong, place) => {
    const codec = createCodec(memoryRegistry())
    expect(() => codec.encodeBlock(TOPIC, wrong as never)).toThrow(place)
  })

  it('rejects an array longer than its bytes at once, whatever length it claims', () => {
    const codec = createCodec(memoryRegistry())
    const bytes = codec.encodeBlock(TOPIC, { ...block, events: [] })
    const claims = Buffer.concat([bytes.subarray(0, -1), Buffer.from('feffffffffff0f', 'hex')])
    expect(() => codec.decodeLogRecord(claims)).toThrow(/array of/)
  })

  it('reports schema, topic and offset of a record it cannot read', () => {
    const codec = createCodec(memoryRegistry())
    const place = { topic: TOPIC, offset: 42 }
    expect(() => codec.decodeLogRecord(Buffer.from([0, 0, 0, 1, 0, 1]), place)).toThrow(
      /schema 256 \(topic dex\.blocks\.eth, position offset 42\)/,
    )
    expect(() => codec.decodeLogRecord(Buffer.from('{"kind":"block"}'), place)).toThrow(/Cannot decode a log record/)
    expect(() => codec.decodeLogRecord(Buffer.alloc(0))).toThrow(/Cannot decode a log record/)
  })

  it('reports a missing prepare with a remote registry', async () => {
    const near = memoryRegistry()
    const remote: SchemaRegistry = {
      idFor: async (subject, schema) => near.idFor(subject, schema),
      schemaFor: async (id) => near.schemaFor(id),
    }
    const [writer, reader] = [createCodec(remote), createCodec(remote)]
    expect(() => writer.encodeBlock(TOPIC, block)).toThrow(/prepare/)
    await writer.prepare(TOPIC, ['block'])
    const bytes = writer.encodeBlock(TOPIC, block)
    expect(() => reader.decodeLogRecord(bytes)).toThrow(/learn/)
    await reader.learn([bytes])
    expect(reader.decodeLogRecord(bytes)).toMatchObject({ kind: 'block', block })
  })

  it('reads records of other schema versions as the newest', () => {
    const newest = newestSchema('block')
    const older = structuredClone(newest)
    const events = older.fields.find(({ name }) => name === 'events')?.type as { items: AvroRecord[] }
    for (const event of events.items) event.fields = event.fields.filter(({ name }) => name !== 'sqrt_price')
    older.fields.push({ name: 'dropped_later', type: { type: 'array', items: 'string' }, default: [] })
    const registry = memoryRegistry([older])
    const codec = createCodec(registry)
    const current = codec.encodeBlock(TOPIC, block)
    const swapWithoutRoot = current.subarray(5)
    // The older form: no sqrt_price (a null branch before profile's), and one more list at the end.
    const body = Buffer.concat([
      swapWithoutRoot.subarray(0, -3),
      Buffer.from([0]),
      Buffer.from([0]),
      Buffer.from('02027800', 'hex'),
    ])
    const bytes = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), body])
    expect(codec.decodeLogRecord(bytes)).toEqual(codec.decodeLogRecord(current))
  })
})
