/** Splits records that are too large for the log into parts, and joins them when reading. Dead letters are cut instead. */
import { DextapeError } from '../domain/errors.js'
import type { Block, BlockUpdate, DeadLetter } from '../domain/records.js'
import type { Codec, DecodedRecord, Loose } from './codec.js'

const BLOCK_LISTS = ['events'] as const
const UPDATE_LISTS = [
  'pairs',
  'tokens',
  'main_pair_changes',
  'retracted',
  'gone_tokens',
  'moved_pairs',
  'moved_tokens',
] as const
/** The part number with the longest encoding: what fits with it fits with the real one. */
const WIDEST_INT = 2 ** 31 - 1

type Encode<T> = (record: T) => Buffer

export function splitBlock<T extends Loose<Block>>(block: T, encode: Encode<T>, maxBytes: number): Buffer[] {
  return split(block, BLOCK_LISTS, encode, maxBytes, `block ${block.number}`)
}

export function splitUpdate<T extends Loose<BlockUpdate>>(update: T, encode: Encode<T>, maxBytes: number): Buffer[] {
  return split(update, UPDATE_LISTS, encode, maxBytes, `update ${update.seq}`)
}

function split<T extends { chain: string }>(
  record: T,
  lists: readonly string[],
  encode: Encode<T>,
  maxBytes: number,
  name: string,
): Buffer[] {
  const whole = encode({ ...record, part: 0, last_part: 0 })
  if (whole.byteLength <= maxBytes) return [whole]

  const items = lists.flatMap((list) => listOf(record, list).map((item) => ({ list, item })))
  const partOf = (from: number, to: number, part: number, lastPart: number): T => {
    const emptied = Object.fromEntries(lists.map((list) => [list, [] as unknown[]]))
    for (const { list, item } of items.slice(from, to)) emptied[list]?.push(item)
    return { ...record, ...emptied, part, last_part: lastPart }
  }

  const ranges: [number, number][] = []
  const cut = (from: number, to: number): void => {
    const bytes = encode(partOf(from, to, WIDEST_INT, WIDEST_INT)).byteLength
    if (bytes <= maxBytes) {
      ranges.push([from, to])
      return
    }
    if (to - from <= 1) throw tooLarge(record.chain, name, items[from]?.list, bytes, maxBytes)
    const middle = (from + to) >> 1
    cut(from, middle)
    cut(middle, to)
  }
  cut(0, items.length)
  return ranges.map(([from, to], part) => encode(partOf(from, to, part, ranges.length - 1)))
}

function listOf(record: object, list: string): readonly unknown[] {
  return (record as Record<string, readonly unknown[] | undefined>)[list] ?? []
}

function tooLarge(
  chain: string,
  name: string,
  list: string | undefined,
  bytes: number,
  maxBytes: number,
): DextapeError {
  return new DextapeError({
    code: 'record_too_large',
    what: `Cannot split ${name}: ${list === undefined ? 'its header' : `one entry of its ${list}`} is too large`,
    where: { chain },
    expected: `at most ${maxBytes} bytes`,
    got: `${bytes}`,
    fix: 'Raise the log’s maximum record size.',
  })
}

/** A whole record and the offset after its last part. */
export type Assembled = { record: DecodedRecord; nextOffset: number }

export type Assembler = {
  /** Takes the next record of the log; returns the whole record once its last part is here. */
  push(record: DecodedRecord, offset: number): Assembled | undefined
  /** Where a reader that stops now must resume: never inside a split record. Undefined before the first record. */
  readonly safeOffset: number | undefined
}

type Parted = { part: number; last_part: number }

export function createAssembler(): Assembler {
  let parts: DecodedRecord[] = []
  let safeOffset: number | undefined

  return {
    get safeOffset() {
      return safeOffset
    },
    push(record, offset) {
      safeOffset ??= offset
      const numbers = partedOf(record)
      const { part, last_part: lastPart } = numbers ?? { part: 0, last_part: 0 }
      if (part === 0) parts = []
      const previous = parts.at(-1)
      const follows = part === 0 ? lastPart >= 0 : previous !== undefined && continues(previous, record)
      if (!follows) {
        const expected = previous === undefined ? 'part 0' : `the part after ${describe(previous)}`
        parts = []
        throw new DextapeError({
          code: 'broken_parts',
          what: 'Parts of a split record are missing or out of order',
          where: { position: `offset ${offset}` },
          expected,
          got: describe(record),
        })
      }
      parts.push(record)
      if (part < lastPart) return undefined
      const whole = parts.length === 1 ? record : join(parts)
      parts = []
      safeOffset = offset + 1
      return { record: whole, nextOffset: safeOffset }
    },
  }
}

function partedOf(record: DecodedRecord): (Parted & (Block | BlockUpdate)) | undefined {
  if (record.kind === 'block') return record.block
  return record.kind === 'update' ? record.update : undefined
}

function continues(previous: DecodedRecord, next: DecodedRecord): boolean {
  const [a, b] = [partedOf(previous), partedOf(next)]
  if (a === undefined || b === undefined || previous.kind !== next.kind) return false
  const lists: readonly string[] = previous.kind === 'block' ? BLOCK_LISTS : UPDATE_LISTS
  if (b.part !== a.part + 1 || b.last_part !== a.last_part || b.part > b.last_part) return false
  return (Object.keys(a) as (keyof typeof a)[]).every(
    (field) => field === 'part' || lists.includes(field) || a[field] === b[field],
  )
}

function join(parts: readonly DecodedRecord[]): DecodedRecord {
  const records = parts.map(partedOf)
  const joined = (lists: readonly string[]): object =>
    Object.fromEntries(lists.map((list) => [list, records.flatMap((record) => listOf(record ?? {}, list))]))
  const [first] = parts
  if (first?.kind === 'block') {
    return { kind: 'block', block: { ...first.block, ...joined(BLOCK_LISTS), part: 0, last_part: 0 } }
  }
  const { update } = first as Extract<DecodedRecord, { kind: 'update' }>
  return { kind: 'update', update: { ...update, ...joined(UPDATE_LISTS), part: 0, last_part: 0 } }
}

function describe(record: DecodedRecord): string {
  switch (record.kind) {
    case 'block':
      return `part ${record.block.part} of ${record.block.last_part} of block ${record.block.number} ${record.block.hash}`
    case 'update':
      return `part ${record.update.part} of ${record.update.last_part} of update ${record.update.epoch}:${record.update.seq}`
    default:
      return `a ${record.kind}`
  }
}

/** The most bytes Avro takes for the length of `raw`. */
const LENGTH_BYTES = 5

/** Encodes a dead letter within the log's size limit by cutting its raw bytes. `source` says where the whole record is. */
export function encodeFittingLetter(
  codec: Pick<Codec, 'encodeDeadLetter'>,
  topic: string,
  letter: Loose<DeadLetter>,
  maxBytes: number,
): Buffer {
  const whole = codec.encodeDeadLetter(topic, letter)
  if (whole.byteLength <= maxBytes) return whole
  const { raw } = letter
  const detail = shortened(letter.detail, Math.floor(maxBytes / 8))
  const withCutNote = (keptBytes: number) => ({
    ...letter,
    detail: `${detail} (raw cut to ${keptBytes} of ${raw.length} bytes)`,
  })
  const besidesRaw = codec.encodeDeadLetter(topic, { ...withCutNote(raw.length), raw: raw.subarray(0, 0) }).byteLength
  const kept = raw.subarray(0, Math.max(0, maxBytes - besidesRaw - LENGTH_BYTES))
  return codec.encodeDeadLetter(topic, { ...withCutNote(kept.length), raw: kept })
}

/** A character takes at most three bytes, so an eighth of the limit in characters leaves room for the rest. */
function shortened(detail: string, maxLength: number): string {
  return detail.length <= maxLength ? detail : `${detail.slice(0, maxLength)}… (detail cut)`
}
