import { Readable } from 'node:stream'
import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecordName } from '../../../schemas/avro.js'
import { readAvroFile, writeAvroFile } from '../../../services/core/log/avro-file.js'
import type { DecodedRecord } from '../../../services/core/log/codec.js'
import { arbitraryRecord, newestSchema } from './arbitraries.js'

type Kind = DecodedRecord['kind']
const KINDS: readonly [Kind, RecordName][] = [
  ['update', 'block_update'],
  ['dead', 'dead_letter'],
  ['trade', 'trade'],
]

async function fileOf(records: readonly DecodedRecord[], kinds: readonly Kind[], seed?: number): Promise<Buffer> {
  async function* all() {
    yield* records
  }
  const chunks: Buffer[] = []
  for await (const chunk of writeAvroFile(all(), kinds, seed)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** In pieces of this size. */
const pieces = (file: Buffer, size: number) =>
  Readable.from(
    Array.from({ length: Math.ceil(file.length / size) }, (_, n) => file.subarray(n * size, n * size + size)),
  )

async function read(file: Buffer, size = 1000) {
  const { names, seed, records } = await readAvroFile(pieces(file, size), 'f.avro')
  const values: unknown[] = []
  for await (const { value } of records) values.push(value)
  return { names, seed, values }
}

const samples = <T>(name: RecordName): T[] =>
  fc.sample(arbitraryRecord<T>(newestSchema(name)), { numRuns: 12, seed: 5 })

describe('an Avro file', () => {
  it.each(KINDS)('holds every %s, for us and for other readers', async (kind, name) => {
    const values = samples<object>(name)
    const file = await fileOf(
      values.map((value) => ({ kind, [kind]: value }) as unknown as DecodedRecord),
      [kind],
    )
    expect(await read(file)).toEqual({ names: [`dextape.${newestSchema(name).name}`], seed: undefined, values })
    // avsc without our types.
    const others: unknown[] = []
    for await (const value of Readable.from([file]).pipe(new avro.streams.BlockDecoder())) others.push(value)
    expect(others).toHaveLength(values.length)
  })

  it('holds blocks and retracts as a union, in order, in many blocks of the file', async () => {
    const blocks = samples<object>('block')
    const records = Array.from({ length: 40 }, () => blocks)
      .flat()
      .map((block) => ({ kind: 'block', block }) as DecodedRecord)
    const [retract] = samples<object>('retract')
    records.push({ kind: 'retract', retract } as DecodedRecord)
    const file = await fileOf(records, ['block', 'retract'], 7)
    for (const size of [997, 65_536]) {
      const { names, seed, values } = await read(file, size)
      expect({ names, seed }).toEqual({ names: ['dextape.Block', 'dextape.Retract'], seed: 7 })
      expect(values).toEqual([...Array.from({ length: 40 }, () => blocks).flat(), retract])
    }
    expect(await fileOf(records, ['block', 'retract'], 7)).toEqual(file)
  })

  it('that was cut anywhere but between blocks is reported', async () => {
    const file = await fileOf(
      samples<object>('trade').map((trade) => ({ kind: 'trade', trade }) as DecodedRecord),
      ['trade'],
    )
    const { length } = file
    for (const end of [length - 1, length - 17, length - 400, 300, 3])
      await expect(read(file.subarray(0, end)), `${end}`).rejects.toThrow('damaged or incomplete')
    expect((await read(await fileOf([], ['trade']))).values).toEqual([])
  })
})
