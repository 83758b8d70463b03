/**
 * Checkpoints in a compacted topic, for a fold that another process may resume. The topic is authoritative; a scratch table on
 * this machine answers the fold's reads and is deleted with the process.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { type Database, type Key, open } from 'lmdb'
import { PAGE_BYTES } from './state-file.js'
import type { StateChange, StateStore } from './state-store.js'
import { inTable, keyOfTable, tableKeyOf } from './table-key.js'
import { writeChange, writeTogether } from './write-together.js'

/** The newest value of each key, written by one process at a time, in atomic sets. */
export type OwnedTopic = {
  claim(onValue: (change: StateChange) => void): Promise<void>
  commit(changes: readonly StateChange[]): Promise<void>
  close(): Promise<void>
}

/** Values larger than a record are split into several; each part but the first has a numbered key. */
const PART_BYTES = 900_000
const PART_MARK = '\u0001'
const LOAD_BATCH = 5000

/** Takes over the topic from its previous owner and loads it. */
export async function openTopicStateStore(topic: OwnedTopic, scratchPath: string): Promise<StateStore> {
  rmSync(scratchPath, { recursive: true, force: true })
  mkdirSync(scratchPath, { recursive: true })
  const root = open<Buffer, Key>({ path: scratchPath, noSync: true, encoding: 'binary', pageSize: PAGE_BYTES })
  const table: Database<Buffer, Key> = root
  await load()

  async function load(): Promise<void> {
    const waiting: Promise<unknown>[] = []
    let batch: StateChange[] = []
    const write = () => {
      const changes = batch
      batch = []
      const writeAll = () => {
        for (const change of changes) writeChange(table, inTable(change))
      }
      waiting.push(root.transaction(writeAll))
    }
    await topic.claim((change) => {
      batch.push(change)
      if (batch.length >= LOAD_BATCH) write()
    })
    write()
    await Promise.all(waiting)
  }

  function get(key: string): Uint8Array | undefined {
    const first = table.get(tableKeyOf(key))
    if (first === undefined || first.length < PART_BYTES) return first
    const parts = [first]
    for (let part = 1; ; part++) {
      const next = table.get(tableKeyOf(partKey(key, part)))
      if (next === undefined) return Buffer.concat(parts)
      parts.push(next)
    }
  }

  /** A value's records, and deletions of the parts that a longer value before it left. */
  function* recordsOf({ key, value }: StateChange): Generator<StateChange> {
    yield { key, value: value === null ? null : value.subarray(0, PART_BYTES) }
    let part = 1
    for (; value !== null && value.length >= part * PART_BYTES; part++)
      yield { key: partKey(key, part), value: value.subarray(part * PART_BYTES, (part + 1) * PART_BYTES) }
    for (; table.get(tableKeyOf(partKey(key, part))) !== undefined; part++)
      yield { key: partKey(key, part), value: null }
  }

  async function commit(changes: readonly StateChange[]): Promise<void> {
    const records = changes.flatMap((change) => [...recordsOf(change)])
    await topic.commit(records)
    await writeTogether(table, records.map(inTable))
  }

  return {
    get,
    *entries(prefix) {
      for (const { key } of table.getRange({ start: prefix, end: `${prefix}\uffff` })) {
        const name = keyOfTable(String(key))
        if (name.includes(PART_MARK)) continue
        const value = get(name)
        if (value !== undefined) yield { key: name, value }
      }
    },
    commit,
    async clear() {
      const keys = [...table.getKeys()]
      if (keys.length > 0) await topic.commit(keys.map((key) => ({ key: keyOfTable(String(key)), value: null })))
      await root.clearAsync()
    },
    async close() {
      await topic.close()
      await root.close()
      rmSync(scratchPath, { recursive: true, force: true })
    },
  }
}

const partKey = (key: string, part: number): string => `${key}${PART_MARK}${String(part).padStart(4, '0')}`
