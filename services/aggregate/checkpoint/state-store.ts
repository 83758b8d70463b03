/** Where checkpoints are stored: keyed bytes of one chain, written in atomic, durable sets. */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, type Key, open } from 'lmdb'
import { DextapeError } from '../../core/domain/errors.js'
import { MAP_BYTES } from '../../core/log/lmdb-tables.js'
import { crc32 } from '../../core/runtime/crc32.js'
import { freeBytesOf } from '../../core/runtime/disk-space.js'
import { inTurns } from '../../core/runtime/in-turns.js'

export type StateChange = { key: string; value: Uint8Array | null }

export interface StateStore {
  get(key: string): Uint8Array | undefined
  /** Keys with a prefix, in order. */
  entries(prefix: string): Iterable<{ key: string; value: Uint8Array }>
  /** All changes or none; durable once resolved. Each value has memory of its own: its checksum is written into it. */
  commit(changes: readonly StateChange[]): Promise<void>
  /** Deletes everything. */
  clear(): Promise<void>
  close(): Promise<void>
  /** Moves the folder it is in, where it is in one, and goes on there. */
  moveTo?(path: string): Promise<void>
}

/** The table of the compressed values: buckets, and even more the undo data of a block, repeat themselves. */
const TABLE = 'values'

export function writeChange<K extends Key>(
  table: Database<Buffer, K>,
  { key, value }: { key: K; value: Uint8Array | null },
): void {
  if (value === null) table.remove(key)
  else table.put(key, asBuffer(value))
}

/**
 * All changes or none, in short turns of this thread: each push waits for one turn at most. LMDB's queue takes a set at once, which
 * holds the thread for as long as there are changes. Nothing else may write to the table meanwhile: it would become part of it.
 */
export async function writeTogether<K extends Key>(
  table: Database<Buffer, K>,
  changes: Iterable<{ key: K; value: Uint8Array | null }>,
): Promise<void> {
  function* writing(): Generator<void, void> {
    for (const change of changes) {
      writeChange(table, change)
      yield
    }
  }
  // The one form of a transaction that undoes what it wrote before it failed.
  await table.childTransaction(() => inTurns(writing()))
}

export async function openStateStore(first: string): Promise<StateStore> {
  let path = first
  let { root, table } = await openTables(path)
  return {
    get: (key) => checked(path, key, table.get(key)),
    *entries(prefix) {
      for (const { key, value } of table.getRange({ start: prefix, end: `${prefix}\uffff` }))
        yield { key, value: checked(path, key, value) }
    },
    async commit(changes) {
      await written(path, () => writeTogether(table, sealed(changes)))
      await table.flushed
    },
    async clear() {
      await table.clearAsync()
      await table.flushed
    },
    close: () => root.close(),
    async moveTo(next) {
      // Closed meanwhile: LMDB takes what is at the path of an open folder later for the same folder.
      await root.close()
      renameSync(path, next)
      path = next
      const moved = await openTables(path)
      root = moved.root
      table = moved.table
    },
  }
}

async function openTables(path: string) {
  await written(path, async () => makeRoomFor(path))
  const root = open<Buffer, string>({ path, overlappingSync: false, encoding: 'binary', mapSize: MAP_BYTES })
  const table = root.openDB<Buffer, string>({ name: TABLE, encoding: 'binary', compression: true })
  await moveUncompressed(root, table)
  return { root, table }
}

/** LMDB maps its files before the disk has room for them: on a full one the process would end by SIGBUS. */
const FIRST_FILES_BYTES = 2 ** 20

function makeRoomFor(path: string): void {
  mkdirSync(path, { recursive: true })
  const isThere = existsSync(join(path, 'data.mdb')) && existsSync(join(path, 'lock.mdb'))
  if (!isThere && freeBytesOf(path) < FIRST_FILES_BYTES) throw new Error('no space left on the disk')
}

/** A full disk may have room again. */
async function written(path: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (cause) {
    throw new DextapeError({
      ...{ code: 'state_write_failed', what: 'Cannot write a checkpoint', retry: true, where: { file: path } },
      got: cause instanceof Error ? cause.message : String(cause),
      fix: 'Check for a full disk or a read-only data directory.',
      cause,
    })
  }
}

/** Values were written to the root table at first, uncompressed. */
async function moveUncompressed(root: Database<Buffer, string>, table: Database<Buffer, string>): Promise<void> {
  const keys = [...root.getKeys()].filter((key) => key !== TABLE)
  if (keys.length === 0) return
  await root.transaction(() => {
    for (const key of keys) {
      table.put(key, root.get(key) as Buffer)
      root.remove(key)
    }
  })
  await root.flushed
}

/** In memory, for a fold that need not survive its process. */
export function memoryStateStore(): StateStore {
  const kept = new Map<string, Uint8Array>()
  return {
    get: (key) => kept.get(key),
    *entries(prefix) {
      for (const key of [...kept.keys()].filter((name) => name.startsWith(prefix)).sort()) {
        const value = kept.get(key)
        if (value !== undefined) yield { key, value }
      }
    },
    async commit(changes) {
      for (const { key, value } of changes) {
        if (value === null) kept.delete(key)
        // A copy: what is kept for long would keep the whole piece of memory it is in.
        else kept.set(key, Uint8Array.from(value))
      }
    },
    async clear() {
      kept.clear()
    },
    async close() {},
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const HEADER_BYTES = 8
/** Where a packed value has its checksum; 0 in values of earlier versions, and in those that are not in a file. */
const CHECKSUM_AT = 4
const NO_CHECKSUM = Buffer.alloc(4)

/** Writes into each value a checksum of its key and its bytes. */
function* sealed(changes: readonly StateChange[]): Generator<StateChange> {
  for (const change of changes) {
    if (change.value !== null) {
      const bytes = asBuffer(change.value)
      bytes.writeUInt32LE(checksumOf(change.key, bytes), CHECKSUM_AT)
    }
    yield change
  }
}

const joined = Buffer.allocUnsafe(1024)

function checksumOf(key: string, value: Buffer): number {
  // One call for a small value: most are.
  if (key.length * 3 + value.length <= joined.length) {
    const start = joined.write(key)
    value.copy(joined, start)
    joined.writeUInt32LE(0, start + CHECKSUM_AT)
    return crc32(joined.subarray(0, start + value.length)) || 1
  }
  const head = crc32(NO_CHECKSUM, crc32(value.subarray(0, CHECKSUM_AT), crc32(key)))
  // 0 means none.
  return crc32(value.subarray(HEADER_BYTES), head) || 1
}

function checked<Value extends Buffer | undefined>(path: string, key: string, value: Value): Value {
  if (value === undefined) return value
  const expected = value.length < HEADER_BYTES ? -1 : value.readUInt32LE(CHECKSUM_AT)
  if (expected === 0 || expected === checksumOf(key, value)) return value
  throw stateDamaged(path, `the value of ${key} has a wrong checksum`)
}

/** The chain is then folded again from its first block. */
export function stateDamaged(path: string, got: string): DextapeError {
  return new DextapeError({ code: 'state_damaged', what: 'A checkpoint is damaged', where: { file: path }, got })
}

/** Values are packed into pieces of memory, one after the other: an allocation for each would cost more than its bytes. */
const PIECE_BYTES = 2 ** 18
let piece = Buffer.alloc(0)
let doubles = new Float64Array(0)
let used = 0

/** Makes room for so many bytes at `used`, a multiple of 8. */
function makeRoom(bytes: number): void {
  if (used + bytes <= piece.length) return
  piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, bytes))
  doubles = new Float64Array(piece.buffer, 0, Math.floor(piece.length / 8))
  used = 0
}

const NO_NUMBERS = new Float64Array(0)

/** A checkpoint value: fields as JSON, numbers as doubles bit for bit (NaN and signs survive). */
export function pack(fields: unknown, numbers: Float64Array = NO_NUMBERS): Uint8Array {
  const text = JSON.stringify(fields)
  makeRoom(HEADER_BYTES + 3 * text.length + 8 + numbers.byteLength)
  return takePacked(piece.write(text, used + HEADER_BYTES), numbers)
}

/** As `pack` of a text of printable ASCII characters that JSON leaves as they are: most values are balances. */
export function packText(text: string): Uint8Array {
  makeRoom(HEADER_BYTES + text.length + 2 + 8)
  return takePacked(piece.write(`"${text}"`, used + HEADER_BYTES, 'latin1'), NO_NUMBERS)
}

/** Completes the value at `used`, whose text is in place. */
function takePacked(textBytes: number, numbers: Float64Array): Buffer {
  const at = used
  const textEnd = at + HEADER_BYTES + textBytes
  const start = Math.ceil(textEnd / 8) * 8
  piece.writeUInt32LE(textBytes, at)
  piece.writeUInt32LE(0, at + CHECKSUM_AT)
  piece.fill(0, textEnd, start)
  doubles.set(numbers, start / 8)
  used = start + numbers.byteLength
  return piece.subarray(at, used)
}

export function unpack<Fields>(packed: Uint8Array): { fields: Fields; numbers: Float64Array } {
  const bytes = Buffer.from(packed)
  const length = bytes.readUInt32LE(0)
  const fields = JSON.parse(bytes.toString('utf8', HEADER_BYTES, HEADER_BYTES + length)) as Fields
  const start = HEADER_BYTES + Math.ceil(length / 8) * 8
  const numbers = new Float64Array((bytes.length - start) / 8)
  Buffer.from(numbers.buffer).set(bytes.subarray(start))
  return { fields, numbers }
}

const PAD = 12

/** Keys with padded numbers sort in numeric order. */
export function padded(value: number): string {
  return String(value).padStart(PAD, '0')
}
