/**
 * Copies what is readable of a damaged log into a new one. Of each topic the records up to the first lost one are kept: what follows
 * a hole cannot be applied.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Key } from 'lmdb'
import { chunkNewestMs, chunkPayloadBytes, chunkRecords, plainChunk } from './chunk.js'
import { damageMarkOf, dataFileOf, scanLmdbFile } from './lmdb-file.js'
import {
  areSchemasWhole,
  type Environment,
  findRecordProblem,
  openEnvironment,
  removeTopicNames,
  sealSchemas,
  type TopicState,
  WRONG_SCHEMAS,
} from './lmdb-tables.js'

/** Records of a topic that are gone. `to` is exclusive; null: the topic's end is not known. */
export type LostRecords = { topic: string; from: number; to: number | null }

export type Salvage = {
  lost: LostRecords[]
  /** Schemas are gone, so records cannot be decoded. */
  lacksSchemas: boolean
  /** Replaces the damaged log, which is moved aside. */
  replace(aside: string): void
  /** Leaves everything as it was. */
  discard(): void
}

/** Reads every record of a log whose file has no problem; undefined: all are whole. */
export async function recordProblemOf(path: string): Promise<string | undefined> {
  const env = openEnvironment({ path })
  try {
    return findRecordProblem(env)
  } finally {
    await env.root.close()
  }
}

/** The same for the schemas alone: few, and without them no record can be decoded. */
export async function schemaProblemOf(path: string): Promise<string | undefined> {
  const env = openEnvironment({ path })
  try {
    return areSchemasWhole(env) ? undefined : WRONG_SCHEMAS
  } finally {
    await env.root.close()
  }
}

/** The log is not open anywhere. */
export async function salvageLog(path: string): Promise<Salvage> {
  const fresh = `${path}.repaired`
  const discard = () => rmSync(fresh, { recursive: true, force: true })
  discard()
  const file = dataFileOf(path)
  const found = findEntries(file)
  await copyEntries(file, fresh, found)
  const env = openEnvironment({ path: fresh })
  const lost: LostRecords[] = []
  let hasSchemas = !lacksSchemas(found)
  try {
    hasSchemas &&= areSchemasWhole(env)
    await env.root.transaction(() => {
      removeTopicNames(env)
      for (const [topic, { state, id }] of found.topics) lost.push(...restoreTopic(env, topic, id, state))
      sealSchemas(env)
    })
    await env.root.flushed
  } finally {
    await env.root.close()
  }
  return {
    lost,
    lacksSchemas: !hasSchemas,
    replace(aside) {
      if (existsSync(path)) renameSync(path, aside)
      renameSync(fresh, path)
      rmSync(damageMarkOf(path), { force: true })
    },
    discard,
  }
}

type Found = {
  /** `id`: in the new log. */
  topics: Map<string, { state: TopicState; id: number }>
  /** By id in the damaged log, then offset: the transaction of the newest copy. */
  chunks: Map<number, Map<number, number>>
  schemas: Map<string, { key: Buffer; value: Buffer; txn: number }>
}

/** What an entry is shows in its key and value: the tables may be lost. */
function findEntries(file: string): Found {
  const found: Found = { topics: new Map(), chunks: new Map(), schemas: new Map() }
  if (!existsSync(file)) return found
  const newest = new Map<string, number>()
  const names = new Map<number, string>()
  scanLmdbFile(file, ({ key, txn, value }) => {
    const place = placeOf(key)
    if (place !== undefined) {
      const chunks = found.chunks.get(place.id) ?? new Map<number, number>()
      found.chunks.set(place.id, chunks.set(place.first, Math.max(chunks.get(place.first) ?? 0, txn)))
      return
    }
    const bytes = value()
    const content = bytes === undefined ? undefined : parsed(bytes)
    const name = key.toString('latin1')
    if (bytes === undefined || content === undefined || txn < (newest.get(name) ?? 0)) return
    newest.set(name, txn)
    if (name.startsWith(TOPIC_KEY) && typeof content === 'string')
      names.set(numberOfKey(key, TOPIC_KEY.length), content)
    if (isTopicState(content)) found.topics.set(key.toString('utf8').replace(/\0+$/, ''), { state: content, id: 0 })
    else if (/^(id|subject|count|checksum|topic)/.test(name))
      found.schemas.set(name, { key: Buffer.from(key), value: Buffer.from(bytes), txn })
  })
  for (const [id, topic] of names)
    if (!found.topics.has(topic)) found.topics.set(topic, { state: stateOfChunks(id, found.chunks.get(id)), id: 0 })
  for (const [at, topic] of [...found.topics.values()].entries()) topic.id = at + 1
  return found
}

const TOPIC_KEY = 'topic\0'
/** Of a topic whose own entry is lost. */
const UNKNOWN_END = Number.POSITIVE_INFINITY

function stateOfChunks(id: number, chunks: ReadonlyMap<number, number> = new Map()): TopicState {
  const start = chunks.size === 0 ? 0 : Math.min(...chunks.keys())
  return { id, start, end: UNKNOWN_END, bytes: 0, newestMs: 0 }
}

const isTopicState = (value: unknown): value is TopicState =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'start', 'end'].every((name) => Number.isInteger((value as Record<string, unknown>)[name]))

/** `count` is the highest id of a schema, and each schema is a record. */
function lacksSchemas({ schemas }: Found): boolean {
  const values = [...schemas.values()].map(({ value }) => parsed(value))
  const count = parsed(schemas.get('count')?.value ?? Buffer.alloc(0))
  const definitions = values.filter((value) => (value as { type?: unknown } | null)?.type === 'record')
  return typeof count !== 'number' || definitions.length < count
}

const ENTRIES_PER_COMMIT = 500

/** Values are copied as they are stored, compressed. */
async function copyEntries(file: string, fresh: string, { topics, chunks, schemas }: Found): Promise<void> {
  const env = openEnvironment({ path: fresh })
  const raw = env.root.openDB<Buffer, Key>({ name: 'chunks', encoding: 'binary', compression: false as never })
  const rawSchemas = env.root.openDB<Buffer, Buffer>({ name: 'schemas', encoding: 'binary', keyEncoding: 'binary' })
  const newIds = new Map([...topics.values()].map(({ state, id }) => [state.id, id]))
  try {
    let waiting: Promise<unknown> = Promise.resolve()
    let written = 0
    for (const { key, value } of schemas.values()) waiting = rawSchemas.put(key, value)
    if (existsSync(file))
      scanLmdbFile(file, ({ key, txn, value }) => {
        const place = placeOf(key)
        const id = place === undefined ? undefined : newIds.get(place.id)
        if (place === undefined || id === undefined || chunks.get(place.id)?.get(place.first) !== txn) return
        const bytes = value()
        // A table of times has the same keys, and numbers for values.
        if (bytes === undefined || bytes.length < SHORTEST_CHUNK) return
        waiting = raw.put([id, place.first], Buffer.from(bytes))
        written += 1
        // Writes what waits, so that a large log is not gathered in memory.
        if (written % ENTRIES_PER_COMMIT === 0) env.root.transactionSync(() => {})
      })
    await waiting
    await env.root.flushed
  } finally {
    await env.root.close()
  }
}

/** Keeps the records up to the first lost one; returns what is lost. */
export function restoreTopic(env: Environment, topic: string, id: number, old: TopicState): LostRecords[] {
  const state: TopicState = { id, start: old.start, end: old.start, bytes: 0, newestMs: 0 }
  const removed: number[] = []
  let isBroken = false
  for (const { first, bytes } of chunksOf(env, id)) {
    const from = Math.max(state.end, first)
    // Deleted before, or an older copy.
    const isOld = first < state.end && (bytes === undefined || first + chunkRecords(bytes) <= from)
    isBroken ||= !isOld && (bytes === undefined || first > state.end)
    if (isOld || isBroken || bytes === undefined) {
      removed.push(first)
      continue
    }
    const newestMs = chunkNewestMs(bytes, from - first)
    if (state.end === state.start || newestMs > state.newestMs) {
      env.times.put([id, newestMs], first)
      state.newestMs = newestMs
    }
    state.bytes += chunkPayloadBytes(bytes, from - first)
    state.end = first + chunkRecords(bytes)
  }
  for (const first of removed) env.chunks.remove([id, first])
  env.topics.put(topic, state)
  env.schemas.put(['topic', id], topic)
  return state.end < old.end || isBroken
    ? [{ topic, from: state.end, to: old.end === UNKNOWN_END ? null : old.end }]
    : []
}

function* chunksOf(env: Environment, id: number): Generator<{ first: number; bytes: Buffer | undefined }> {
  const keys = [...env.chunks.getKeys({ start: [id], end: [id + 1] })] as [number, number][]
  for (const [, first] of keys) {
    let bytes: Buffer | undefined
    try {
      const stored = env.chunks.get([id, first])
      bytes = stored === undefined ? undefined : plainChunk(stored)
    } catch {
      bytes = undefined
    }
    yield { first, bytes }
  }
}

/** Header, and a compressed row of the table; a number as text is shorter. */
const SHORTEST_CHUNK = 28

/** The place of a chunk, if the key is one of two numbers. */
function placeOf(key: Buffer): { id: number; first: number } | undefined {
  if (key.length !== 19 || key[0] === undefined || key[0] < 16 || key[0] >= 24 || key[9] !== 0) return undefined
  return { id: numberOfKey(key, 0), first: numberOfKey(key, 10) }
}

/** A number in a key of several parts: a double whose bits sort like its value. */
function numberOfKey(key: Buffer, at: number): number {
  const low = key.readInt32BE(at + 4)
  const bits = Buffer.allocUnsafe(8)
  bits.writeInt32BE((key.readInt32BE(at) << 4) | (low >>> 28), 0)
  bits.writeInt32BE((low << 4) | ((key[at + 8] ?? 0) >> 4), 4)
  return bits.readDoubleBE(0)
}

function parsed(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
