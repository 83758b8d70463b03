/**
 * Avro object container files: a header with the schema, then blocks of records, compressed with deflate. Format:
 * https://avro.apache.org/docs/1.12.0/specification/#object-container-files
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import avro from 'avsc'
import { type AvroRecord, newestSchema, type RecordName } from '../../../schemas/avro.js'
import { DextapeError } from '../domain/errors.js'
import { avroTypeOf } from './avro-types.js'
import type { DecodedRecord } from './codec.js'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw) as (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

export const AVRO_FILE_MAGIC = Buffer.from('Obj\u0001', 'latin1')
/** The seed of a simulated market, in the header. */
const SEED_KEY = 'dextape.simulated_seed'

const SYNC = { type: 'fixed', name: 'Sync', size: 16 }
const HEADER = avro.Type.forSchema({
  ...{ type: 'record', name: 'Header' },
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: SYNC },
  ],
} as never)
const BLOCK = avro.Type.forSchema({
  ...{ type: 'record', name: 'FileBlock' },
  fields: [
    { name: 'count', type: 'long' },
    { name: 'data', type: 'bytes' },
    { name: 'sync', type: SYNC },
  ],
} as never)

/** Uncompressed bytes after which a block of the file ends. */
const BLOCK_BYTES = 256 * 1024
/** Records are up to the log's limit when written; a joined one may be far larger. */
const MAX_BLOCK_BYTES = 1024 * 1024 * 1024

type Kind = DecodedRecord['kind']

const NAMES: Record<Kind, RecordName> = {
  block: 'block',
  retract: 'retract',
  update: 'block_update',
  dead: 'dead_letter',
  trade: 'trade',
}

const fullName = ({ namespace, name }: AvroRecord): string => (namespace === undefined ? name : `${namespace}.${name}`)

const contentOf = (record: DecodedRecord): object => {
  switch (record.kind) {
    case 'block':
      return record.block
    case 'retract':
      return record.retract
    case 'update':
      return record.update
    case 'dead':
      return record.dead
    case 'trade':
      return record.trade
  }
}

/** The bytes of a file with these records, which are of `kinds`: a union if there are several. The same records give the same bytes. */
export async function* writeAvroFile(
  records: AsyncIterable<DecodedRecord>,
  kinds: readonly Kind[],
  seed?: number,
): AsyncGenerator<Buffer> {
  const schemas = new Map(kinds.map((kind) => [kind, newestSchema(NAMES[kind])]))
  const all = [...schemas.values()]
  const isUnion = all.length > 1
  const schemaText = JSON.stringify(isUnion ? all : all[0])
  const sync = createHash('md5').update(schemaText).digest()
  const meta: Record<string, Buffer> = { 'avro.schema': Buffer.from(schemaText), 'avro.codec': Buffer.from('deflate') }
  if (seed !== undefined) meta[SEED_KEY] = Buffer.from(String(seed))
  yield HEADER.toBuffer({ magic: AVRO_FILE_MAGIC, meta, sync })

  const type = avroTypeOf((isUnion ? all : all[0]) as AvroRecord)
  let encoded: Buffer[] = []
  let bytes = 0
  const flushed = async (): Promise<Buffer> => {
    const block = BLOCK.toBuffer({ count: encoded.length, data: await deflate(Buffer.concat(encoded)), sync })
    encoded = []
    bytes = 0
    return block
  }
  for await (const record of records) {
    const schema = schemas.get(record.kind)
    if (schema === undefined)
      throw new DextapeError({ code: 'wrong_kind', what: 'Unexpected record kind in topic', got: record.kind })
    const value = type.toBuffer(isUnion ? { [fullName(schema)]: contentOf(record) } : contentOf(record))
    encoded.push(value)
    bytes += value.length
    if (bytes >= BLOCK_BYTES) yield await flushed()
  }
  if (encoded.length > 0) yield await flushed()
}

export type AvroFile = {
  /** Names of its records' schemas. */
  names: string[]
  seed: number | undefined
  /** Each with the name of its schema. */
  records: AsyncGenerator<{ name: string; value: Record<string, unknown> }>
}

/** Throws if the file is cut or damaged, after the intact blocks before. */
export async function readAvroFile(chunks: AsyncIterable<Buffer>, file: string): Promise<AvroFile> {
  const input = createInput(chunks, file)
  const header = (await input.next(HEADER)) as { magic: Buffer; meta: Record<string, Buffer>; sync: Buffer } | undefined
  const schemaText = header?.meta['avro.schema']?.toString('utf8')
  if (header === undefined || schemaText === undefined) throw damaged(file, 'the header is not complete')
  const codec = header.meta['avro.codec']?.toString() ?? 'null'
  if (codec !== 'deflate' && codec !== 'null') throw damaged(file, `its codec ${codec} is not known (deflate, null)`)
  const { schemas, type } = parsedSchema(schemaText, file)
  const names = schemas.map(fullName)
  const seed = header.meta[SEED_KEY]?.toString()

  async function* records(): AsyncGenerator<{ name: string; value: Record<string, unknown> }> {
    for (;;) {
      const block = (await input.next(BLOCK)) as { count: number; data: Buffer; sync: Buffer } | undefined
      if (block === undefined) return
      if (!block.sync.equals(header?.sync as Buffer)) throw damaged(file, 'a block does not end with the sync marker')
      const values: { name: string; value: Record<string, unknown> }[] = []
      try {
        const data = codec === 'null' ? block.data : await inflate(block.data, { maxOutputLength: MAX_BLOCK_BYTES })
        for (let at = 0, n = 0; n < block.count; n++) {
          const { value, offset } = type.decode(data, at) as { value: Record<string, unknown>; offset: number }
          if (offset < 0) throw new Error('a record ends too early')
          at = offset
          const [name, only] = schemas.length > 1 ? (Object.entries(value)[0] ?? []) : [names[0], value]
          values.push({ name: name ?? '', value: only as Record<string, unknown> })
        }
      } catch (cause) {
        throw damaged(file, (cause as Error).message, cause)
      }
      yield* values
    }
  }
  return { names, seed: seed === undefined ? undefined : Number(seed), records: records() }
}

function parsedSchema(text: string, file: string): { schemas: AvroRecord[]; type: avro.Type } {
  try {
    const schema = JSON.parse(text) as AvroRecord | AvroRecord[]
    return { schemas: Array.isArray(schema) ? schema : [schema], type: avroTypeOf(schema as AvroRecord) }
  } catch (cause) {
    throw damaged(file, `its schema cannot be read: ${(cause as Error).message}`, cause)
  }
}

/** Values one after the other; undefined at the end. */
function createInput(chunks: AsyncIterable<Buffer>, file: string) {
  const source = chunks[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  return {
    async next(type: avro.Type): Promise<unknown> {
      for (let wanted = 1; ; ) {
        if (rest.length >= wanted) {
          const { value, offset } = decoded(type, rest, file)
          if (offset >= 0) {
            rest = rest.subarray(offset)
            return value
          }
          // Doubled, so that a large block is not decoded again with every chunk.
          wanted = rest.length * 2
        }
        const parts = [rest]
        let bytes = rest.length
        let isDone = false
        while (bytes < wanted && !isDone) {
          const chunk = await source.next()
          if (chunk.done) isDone = true
          else {
            parts.push(chunk.value)
            bytes += chunk.value.length
          }
        }
        if (parts.length === 1) {
          if (rest.length === 0) return undefined
          throw damaged(file, 'it ends in the middle of a block')
        }
        rest = Buffer.concat(parts)
        if (isDone) wanted = Math.min(wanted, rest.length)
      }
    },
  }
}

function decoded(type: avro.Type, bytes: Buffer, file: string): { value: unknown; offset: number } {
  try {
    return type.decode(bytes, 0) as { value: unknown; offset: number }
  } catch (cause) {
    throw damaged(file, (cause as Error).message, cause)
  }
}

function damaged(file: string, got: string, cause?: unknown): DextapeError {
  return new DextapeError({
    code: 'avro_file_damaged',
    what: 'The Avro file is damaged or incomplete',
    where: { file },
    got,
    fix: 'The intact part before is used. Get the file again and restart: it resumes from there.',
    cause,
  })
}
