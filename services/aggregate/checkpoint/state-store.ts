/** Where checkpoints rest: keyed bytes of one chain, written in atomic, durable sets. */
import { mkdirSync } from 'node:fs'
import { open } from 'lmdb'

export type StateChange = { key: string; value: Uint8Array | null }

export interface StateStore {
  get(key: string): Uint8Array | undefined
  /** Keys with a prefix, in order. */
  entries(prefix: string): Iterable<{ key: string; value: Uint8Array }>
  /** All changes or none; durable once resolved. */
  commit(changes: readonly StateChange[]): Promise<void>
  /** Forgets everything. */
  clear(): Promise<void>
  close(): Promise<void>
}

export function openStateStore(path: string): StateStore {
  mkdirSync(path, { recursive: true })
  const table = open<Buffer, string>({ path, overlappingSync: false, encoding: 'binary' })
  return {
    get: (key) => table.get(key),
    *entries(prefix) {
      for (const { key, value } of table.getRange({ start: prefix, end: `${prefix}\uffff` })) yield { key, value }
    },
    async commit(changes) {
      await table.transaction(() => {
        for (const { key, value } of changes) {
          if (value === null) table.remove(key)
          else table.put(key, asBuffer(value))
        }
      })
      await table.flushed
    },
    async clear() {
      await table.clearAsync()
      await table.flushed
    },
    close: () => table.close(),
  }
}

/** The same in memory, for a fold that need not survive its process. */
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
        else kept.set(key, value)
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
