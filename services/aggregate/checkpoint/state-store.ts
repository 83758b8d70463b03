/** Where checkpoints are stored: keyed bytes of one chain, written in atomic, durable sets. */
import { renameSync } from 'node:fs'
import { DextapeError } from '../../core/domain/errors.js'
import { crc32 } from '../../core/runtime/crc32.js'
import { openStateFile, written } from './state-file.js'
import { inTable, keyOfTable, tableKeyOf } from './table-key.js'
import { asBuffer, type TableChange, writeTogether } from './write-together.js'

export type StateChange = TableChange<string>

export interface StateStore {
  get(key: string): Uint8Array | undefined
  /** Keys with a prefix. Those of buckets and of wallets are found by `b/` and `w/`, not by more of the key. */
  entries(prefix: string): Iterable<{ key: string; value: Uint8Array }>
  /** All changes or none; durable once resolved. Each value has memory of its own: its checksum is written into it. */
  commit(changes: readonly StateChange[]): Promise<void>
  /** Deletes everything. */
  clear(): Promise<void>
  close(): Promise<void>
  /** Moves the folder it is in, where it is in one, and goes on there. */
  moveTo?(path: string): Promise<void>
}

/** `onRewrite` is called before a directory of an earlier version is written anew. */
export async function openStateStore(first: string, onRewrite?: () => void): Promise<StateStore> {
  let path = first
  let { root, table } = await openStateFile(path, onRewrite)
  return {
    get: (key) => checked(path, key, table.get(tableKeyOf(key))),
    *entries(prefix) {
      for (const { key: tableKey, value } of table.getRange({ start: prefix, end: `${prefix}\uffff` })) {
        const key = keyOfTable(tableKey)
        yield { key, value: checked(path, key, value) }
      }
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
      const moved = await openStateFile(path)
      root = moved.root
      table = moved.table
    },
  }
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

const HEADER_BYTES = 8
/** Where a packed value has its checksum; 0 in values of earlier versions, and in those that are not in a file. */
const CHECKSUM_AT = 4
const NO_CHECKSUM = Buffer.alloc(4)

/** Changes of the table. Writes into each value a checksum of its key and its bytes. */
function* sealed(changes: readonly StateChange[]): Generator<StateChange> {
  for (const change of changes) {
    if (change.value !== null) {
      const bytes = asBuffer(change.value)
      bytes.writeUInt32LE(checksumOf(change.key, bytes), CHECKSUM_AT)
    }
    yield inTable(change)
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
