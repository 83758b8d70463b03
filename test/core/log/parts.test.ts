import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DextapeError } from '../../../services/core/domain/errors.js'
import type { Block, BlockUpdate } from '../../../services/core/domain/records.js'
import { createCodec, type DecodedRecord } from '../../../services/core/log/codec.js'
import { createAssembler, splitBlock, splitUpdate } from '../../../services/core/log/parts.js'
import { arbitraryRecord, newestSchema } from './arbitraries.js'
import { memoryRegistry } from './memory-registry.js'

const codec = createCodec(memoryRegistry())
const encodeBlock = (block: Block) => codec.encodeBlock('dex.blocks.eth', block)
const encodeUpdate = (update: BlockUpdate) => codec.encodeUpdate('dex.updates.eth', update)

/** Assembles the record; checks that only the last part completes it and moves the safe offset. */
function assemble(parts: Buffer[], firstOffset: number): DecodedRecord | undefined {
  const assembler = createAssembler()
  let whole: DecodedRecord | undefined
  for (const [index, bytes] of parts.entries()) {
    const assembled = assembler.push(codec.decodeLogRecord(bytes), firstOffset + index)
    const isLast = index === parts.length - 1
    expect(assembled !== undefined).toBe(isLast)
    expect(assembler.safeOffset).toBe(isLast ? firstOffset + parts.length : firstOffset)
    whole = assembled?.record
  }
  return whole
}

function checkSplit<T extends Block | BlockUpdate>(
  record: T,
  limit: number,
  split: (record: T, encode: (record: T) => Buffer, maxBytes: number) => Buffer[],
  encode: (record: T) => Buffer,
  wholeOf: (record: T) => DecodedRecord,
): void {
  let parts: Buffer[]
  try {
    parts = split(record, encode, limit)
  } catch (error) {
    expect((error as DextapeError).code).toBe('record_too_large')
    return
  }
  for (const bytes of parts) expect(bytes.byteLength).toBeLessThanOrEqual(limit)
  expect(assemble(parts, 10)).toEqual(wholeOf({ ...record, part: 0, last_part: 0 }))
}

const block = (number: number, texts: string[]): Block => ({
  chain: 'eth',
  number,
  hash: `0x${number}`,
  parent_hash: `0x${number - 1}`,
  time: number,
  finalized_number: 0,
  part: 0,
  last_part: 0,
  events: texts.map((holder, log_index) => ({
    type: 'balance',
    tx_index: 0,
    log_index,
    sub: 0,
    tx_hash: '0xt',
    token: '0xc',
    holder,
    delta: '1',
    balance: null,
  })),
})

const partsOf = (number: number): DecodedRecord[] =>
  splitBlock(
    block(
      number,
      ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(50)),
    ),
    encodeBlock,
    150,
  ).map((bytes) => codec.decodeLogRecord(bytes))

describe('splitting', () => {
  it('then assembling gives the same block, for any limit', () => {
    const arbitrary = arbitraryRecord<Block>(newestSchema('block'))
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 1, max: 3_000 }), (record, limit) =>
        checkSplit(record, limit, splitBlock, encodeBlock, (whole) => ({ kind: 'block', block: whole })),
      ),
      { numRuns: 100 },
    )
  })

  it('then assembling gives the same update, for any limit', () => {
    const arbitrary = arbitraryRecord<BlockUpdate>(newestSchema('block_update'))
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 1, max: 20_000 }), (record, limit) =>
        checkSplit(record, limit, splitUpdate, encodeUpdate, (whole) => ({ kind: 'update', update: whole })),
      ),
      { numRuns: 60 },
    )
  })

  it('keeps a record that fits in one part', () => {
    expect(splitBlock(block(1, ['a', 'b']), encodeBlock, 10_000)).toEqual([encodeBlock(block(1, ['a', 'b']))])
  })

  it('rejects an event too large for any part, with advice', () => {
    const split = () => splitBlock(block(1, ['small', 'x'.repeat(500)]), encodeBlock, 300)
    expect(split).toThrow(DextapeError)
    expect(split).toThrow(/one entry of its events is too large .*Raise/)
  })
})

describe('assembling', () => {
  it('restarts at part 0, as a writer that stopped half-way writes the block again', () => {
    const assembler = createAssembler()
    const parts = partsOf(5)
    expect(parts.length).toBeGreaterThan(2)
    const written = [...parts.slice(0, 2), ...parts]
    const wholes = written.map((part, offset) => assembler.push(part, offset)).filter((whole) => whole !== undefined)
    expect(wholes).toHaveLength(1)
    expect(wholes[0]?.record).toMatchObject({ kind: 'block', block: { number: 5, part: 0, last_part: 0 } })
    expect(wholes[0]?.nextOffset).toBe(written.length)
  })

  it('drops an incomplete block at a retract', () => {
    const assembler = createAssembler()
    const [first] = partsOf(5)
    const retract = { chain: 'eth', from_number: 4, from_hash: '0x4', to_number: 3, to_hash: '0x3' }
    assembler.push(first as DecodedRecord, 0)
    expect(assembler.push({ kind: 'retract', retract }, 1)).toEqual({
      record: { kind: 'retract', retract },
      nextOffset: 2,
    })
  })

  it.each([
    ['a part without its beginning', () => partsOf(5).slice(1, 2)],
    ['a missing part', () => [partsOf(5)[0], partsOf(5)[2]]],
    ['a part written twice', () => [partsOf(5)[0], partsOf(5)[1], partsOf(5)[1]]],
    ['a part of another block', () => [partsOf(5)[0], partsOf(6)[1]]],
  ])('reports %s', (_what, records) => {
    const assembler = createAssembler()
    const feed = () => {
      for (const [offset, record] of records().entries()) assembler.push(record as DecodedRecord, offset)
    }
    expect(feed).toThrow(/Parts of a split record are missing or out of order/)
    expect(assembler.safeOffset).toBe(0)
    const wholes = partsOf(7).map((part, index) => assembler.push(part, 10 + index))
    expect(wholes.at(-1)?.record).toMatchObject({ kind: 'block', block: { number: 7 } })
  })
})
