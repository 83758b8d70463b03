/**
 * Records as bytes: Avro in the registry's wire format (a zero byte, the schema's id in four bytes, Avro binary). Records
 * of older and newer schema versions are read as the newest version known here.
 */
import type avro from 'avsc'
import { type AvroRecord, RECORD_NAMES, type RecordName, schemaVersions } from '../../../schemas/avro.js'
import { DextapeError } from '../domain/errors.js'
import type { Block, BlockUpdate, DeadLetter, Retract, TradeRecord } from '../domain/records.js'
import { avroTypeOf } from './avro-types.js'
import { lazyUpdateTypeOf } from './lazy-update-type.js'
import { type SchemaRegistry, subjectOf } from './registry.js'
import { packUpdate, type UnpackedUpdate } from './unpacked-update.js'

export type DecodedRecord =
  | { kind: 'block'; block: Block }
  | { kind: 'retract'; retract: Retract }
  | { kind: 'update'; update: BlockUpdate }
  | { kind: 'dead'; dead: DeadLetter }
  | { kind: 'trade'; trade: TradeRecord }

/** A record to encode: fields with a default in the schema may be absent. */
export type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends Uint8Array | Float64Array
    ? T
    : T extends object
      ? {
          [K in keyof T as null extends T[K] ? never : K extends 'sub' | 'part' | 'last_part' ? never : K]: Loose<T[K]>
        } & {
          [K in keyof T as null extends T[K] ? K : K extends 'sub' | 'part' | 'last_part' ? K : never]?:
            | Loose<T[K]>
            | undefined
        }
      : T

export type RecordPlace = { topic?: string; offset?: number }

export type Codec = {
  encodeBlock(topic: string, block: Loose<Block>): Buffer
  encodeRetract(topic: string, retract: Retract): Buffer
  encodeUpdate(topic: string, update: Loose<BlockUpdate>): Buffer
  encodeDeadLetter(topic: string, dead: Loose<DeadLetter>): Buffer
  encodeTrade(topic: string, trade: Loose<TradeRecord>): Buffer
  decodeLogRecord(bytes: Uint8Array, place?: RecordPlace): DecodedRecord
  /** The same, but the events of an update's pairs are read when they are asked for. */
  decodeLazily(bytes: Uint8Array, place?: RecordPlace): DecodedRecord
  /** What a record that can be decoded was written as. */
  writtenAs(bytes: Uint8Array): RecordName | undefined
  /** Registers a topic's schemas ahead of its first record; needed where the registry is remote. */
  prepare(topic: string, records: readonly RecordName[]): Promise<void>
  /** Fetches the schemas of these records; needed before decoding where the registry is remote. */
  learn(values: Iterable<Uint8Array>): Promise<void>
}

const HEADER_BYTES = 5
/** Records are encoded one after the other into it, and keep it in memory: whoever keeps one for long copies it. */
const SCRATCH_BYTES = 512 * 1024
/** Of what is expected, by each smaller record. */
const EXPECTED_DECAY = 0.9

type Newest = { name: RecordName; schema: AvroRecord }
type Resolver = ReturnType<avro.Type['createResolver']>
const NO_DECODER = { name: undefined, resolver: undefined }
type Decoder = { name: RecordName; type: avro.types.RecordType; resolver: Resolver | undefined }

export function createCodec(registry: SchemaRegistry): Codec {
  const newest = new Map(RECORD_NAMES.map((name) => [name, newestOf(name)]))
  const types = new Map<RecordName, avro.types.RecordType>()
  const idsByTopic = new Map<string, Map<RecordName, number>>()
  const decoders = new Map<number, Decoder>()
  /** Schemas fetched ahead, by id; null: unknown to the registry. */
  const learned = new Map<number, AvroRecord | null>()
  let lazyType: avro.types.RecordType | undefined
  let scratch = Buffer.alloc(0)
  let used = 0
  /** About the largest of the last records: one that turns out too large for what is left of the scratch is encoded twice. */
  let expectedBytes = 0

  function newestNamed(name: RecordName): Newest {
    return newest.get(name) as Newest
  }

  /** Compiled on first use: a thread reads or writes few of them, and each takes up to 50 ms. */
  function typeOf(name: RecordName): avro.types.RecordType {
    const known = types.get(name)
    if (known !== undefined) return known
    const type = avroTypeOf(newestNamed(name).schema)
    types.set(name, type)
    return type
  }

  function idsOf(topic: string): Map<RecordName, number> {
    const known = idsByTopic.get(topic)
    if (known !== undefined) return known
    const created = new Map<RecordName, number>()
    idsByTopic.set(topic, created)
    return created
  }

  function idFor(topic: string, name: RecordName): number {
    const known = idsByTopic.get(topic)?.get(name)
    if (known !== undefined) return known
    const { schema } = newestNamed(name)
    const id = registry.idFor(subjectOf(topic, schema), schema)
    if (typeof id !== 'number') {
      id.catch(() => undefined)
      throw new DextapeError({
        code: 'schema_not_ready',
        what: `Schema of ${name} is not registered yet`,
        where: { topic },
        retry: true,
        fix: 'Await prepare(topic, records) first.',
      })
    }
    idsOf(topic).set(name, id)
    return id
  }

  function encode(topic: string, name: RecordName, record: object): Buffer {
    const id = idFor(topic, name)
    const type = typeOf(name)
    try {
      if (scratch.length - used < expectedBytes) renewScratch(expectedBytes)
      let end = type.encode(record, scratch, used + HEADER_BYTES)
      if (end < 0) {
        renewScratch(scratch.length - used - end)
        end = type.encode(record, scratch, HEADER_BYTES)
      }
      expectedBytes = Math.max(end - used, expectedBytes * EXPECTED_DECAY)
      const encoded = scratch.subarray(used, end)
      encoded[0] = 0
      encoded.writeUInt32BE(id, 1)
      used = end
      return encoded
    } catch (cause) {
      throw new DextapeError({
        code: 'unencodable',
        what: `Cannot encode ${name}: it does not match its schema`,
        where: { topic },
        got: firstFault(type, record) ?? messageOf(cause),
        cause,
      })
    }
  }

  function renewScratch(leastBytes: number): void {
    scratch = Buffer.allocUnsafeSlow(Math.max(SCRATCH_BYTES, Math.ceil(leastBytes)))
    used = 0
  }

  function decoderFor(id: number, place: RecordPlace | undefined): Decoder {
    const known = decoders.get(id)
    if (known !== undefined) return known
    const schema = learned.has(id) ? learned.get(id) : registry.schemaFor(id)
    if (schema instanceof Promise) {
      schema.catch(() => undefined)
      throw new DextapeError({
        code: 'schema_not_ready',
        what: `Schema ${id} is not fetched yet`,
        where: whereOf(place),
        retry: true,
        fix: 'Await learn(values) first.',
      })
    }
    return addDecoder(id, schema ?? undefined, place)
  }

  function addDecoder(id: number, schema: AvroRecord | undefined, place: RecordPlace | undefined): Decoder {
    if (schema === undefined) throw undecodable(id, 'a schema id unknown to the registry', place)
    const match = [...newest.values()].find((candidate) => candidate.schema.name === schema.name)
    if (match === undefined) throw undecodable(id, `unknown record type ${schema.name}`, place)
    const { name } = match
    const type = typeOf(name)
    try {
      const isNewest = JSON.stringify(schema) === JSON.stringify(match.schema)
      const resolver = isNewest ? undefined : resolverFor(type, avroTypeOf(schema))
      const decoder: Decoder = { name, type, resolver }
      decoders.set(id, decoder)
      return decoder
    } catch (cause) {
      throw undecodable(id, messageOf(cause), place, cause)
    }
  }

  function decodeLazily(bytes: Uint8Array, place?: RecordPlace): DecodedRecord {
    const id = schemaIdOf(bytes)
    const { name, resolver } = id === undefined ? NO_DECODER : decoderFor(id, place)
    if (name !== 'block_update' || resolver !== undefined) return decodeLogRecord(bytes, place)
    lazyType ??= lazyUpdateTypeOf(newestNamed(name).schema)
    try {
      return { kind: 'update', update: lazyType.fromBuffer(bodyOf(bytes)) as BlockUpdate }
    } catch (cause) {
      throw undecodable(id, messageOf(cause), place, cause)
    }
  }

  function decodeLogRecord(bytes: Uint8Array, place?: RecordPlace): DecodedRecord {
    const id = schemaIdOf(bytes)
    if (id === undefined) throw undecodable(undefined, 'bytes that do not begin with 0 and a schema id', place)
    const { name, type, resolver } = decoderFor(id, place)
    let record: unknown
    try {
      record = type.fromBuffer(bodyOf(bytes), resolver)
      if (name === 'update') record = packUpdate(record as UnpackedUpdate)
    } catch (cause) {
      throw undecodable(id, messageOf(cause), place, cause)
    }
    switch (name) {
      case 'block':
        return { kind: 'block', block: record as Block }
      case 'retract':
        return { kind: 'retract', retract: record as Retract }
      case 'update':
      case 'block_update':
        return { kind: 'update', update: record as BlockUpdate }
      case 'dead_letter':
        return { kind: 'dead', dead: record as DeadLetter }
      case 'trade':
        return { kind: 'trade', trade: record as TradeRecord }
    }
  }

  return {
    encodeBlock: (topic, block) => encode(topic, 'block', block),
    encodeRetract: (topic, retract) => encode(topic, 'retract', retract),
    encodeUpdate: (topic, update) => encode(topic, 'block_update', update),
    encodeDeadLetter(topic, dead) {
      const raw = Buffer.isBuffer(dead.raw) ? dead.raw : Buffer.from(dead.raw)
      return encode(topic, 'dead_letter', { ...dead, raw })
    },
    encodeTrade: (topic, trade) => encode(topic, 'trade', trade),
    decodeLogRecord,
    decodeLazily,
    writtenAs(bytes) {
      const id = schemaIdOf(bytes)
      return id === undefined ? undefined : decoderFor(id, undefined).name
    },
    async prepare(topic, records) {
      for (const name of records) {
        const { schema } = newestNamed(name)
        idsOf(topic).set(name, await registry.idFor(subjectOf(topic, schema), schema))
      }
    },
    async learn(values) {
      const unknown = new Set<number>()
      for (const value of values) {
        const id = schemaIdOf(value)
        if (id !== undefined && !decoders.has(id) && (learned.get(id) ?? null) === null) unknown.add(id)
      }
      for (const id of unknown) learned.set(id, (await registry.schemaFor(id)) ?? null)
    },
  }
}

/** Not needed if only docs, defaults or attribute order differ: a registry may reformat a schema. */
function resolverFor(reader: avro.types.RecordType, writer: avro.types.RecordType): Resolver | undefined {
  return reader.fingerprint().equals(writer.fingerprint()) ? undefined : reader.createResolver(writer)
}

function newestOf(name: RecordName): Newest {
  const schema = schemaVersions(name).at(-1)
  if (schema === undefined) {
    throw new DextapeError({ code: 'no_schema', what: `No schema v<N>.avsc in schemas/avro/${name}` })
  }
  return { name, schema }
}

function schemaIdOf(bytes: Uint8Array): number | undefined {
  if (bytes.byteLength < HEADER_BYTES || bytes[0] !== 0) return undefined
  return new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES).getUint32(1)
}

function bodyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + HEADER_BYTES, bytes.byteLength - HEADER_BYTES)
}

/** Path and value of the first field that does not match the schema. */
function firstFault(type: avro.Type, record: object): string | undefined {
  let fault: string | undefined
  try {
    type.isValid(record, {
      errorHook(path, value) {
        fault ??= `${path.join('.')} = ${JSON.stringify(value)}`
      },
    })
  } catch {
    return fault
  }
  return fault
}

function undecodable(id: number | undefined, got: string, place?: RecordPlace, cause?: unknown): DextapeError {
  return new DextapeError({
    code: 'undecodable',
    what: `Cannot decode a log record${id === undefined ? '' : ` of schema ${id}`}`,
    where: whereOf(place),
    got,
    cause,
  })
}

function whereOf(place: RecordPlace | undefined): { topic?: string; position?: string } {
  return {
    ...(place?.topic === undefined ? {} : { topic: place.topic }),
    ...(place?.offset === undefined ? {} : { position: `offset ${place.offset}` }),
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
