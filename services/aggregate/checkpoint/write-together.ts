/** Sets of changes in LMDB tables. */
import type { Database, Key } from 'lmdb'
import { inTurns } from '../../core/runtime/in-turns.js'

export type TableChange<K> = { key: K; value: Uint8Array | null }

export function writeChange<K extends Key>(table: Database<Buffer, K>, { key, value }: TableChange<K>): void {
  if (value === null) table.remove(key)
  else table.put(key, asBuffer(value))
}

/**
 * All changes or none, in short turns of this thread: each push waits for one turn at most. LMDB's queue takes a set at once, which
 * holds the thread for as long as there are changes. Nothing else may write to the table meanwhile: it would become part of it.
 */
export async function writeTogether<K extends Key>(
  table: Database<Buffer, K>,
  changes: Iterable<TableChange<K>>,
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

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
