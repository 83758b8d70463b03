/**
 * The LMDB environment of a data directory (one file for records, positions and schemas, shared by several processes), and reads
 * and edits of one topic in it. These are synchronous: writes are called within a write transaction, reads see one snapshot.
 */
import { type Database, type Key, open, type RootDatabase } from 'lmdb'
import { ConfigError } from '../domain/errors.js'
import { crc32 } from '../runtime/crc32.js'
import { chunkDamaged } from './assertions.js'
import {
  type Chunk,
  chunkNewestMs,
  chunkPayloadBytes,
  chunkRecords,
  chunkTimestampMs,
  plainChunk,
  storedChunk,
  storedPayloadBytes,
  unpackChunk,
} from './chunk.js'
import type { LogRecord } from './port.js'
import type { ChunkTimes } from './tail.js'

/** A topic's facts. `id` keeps record keys short. */
export type TopicState = { id: number; start: number; end: number; bytes: number; newestMs: number }

export type Environment = {
  root: RootDatabase<Buffer, Key>
  /** topic name → its facts */
  topics: Database<TopicState, string>
  /** [topic id, offset of the first record] → chunk as stored */
  chunks: Database<Buffer, Key>
  /** [topic id, highest timestamp so far] → offset of the first chunk with it */
  times: Database<number, Key>
  /** [group, topic] → next offset */
  groups: Database<number, Key>
  /** The schema registry's table, and names of topics. */
  schemas: Database<unknown, Key>
}

export type EnvironmentOptions = { path: string; readOnly?: boolean }

/**
 * Address space, not disk: a file that outgrows its mapping is mapped again, by every process that shares it, and both mappings
 * count as memory. It can grow beyond this.
 */
export const MAP_BYTES = 2 ** 34
const NEVER = 2 ** 31

export function openEnvironment({ path, readOnly = false }: EnvironmentOptions): Environment {
  try {
    const root = open<Buffer, Key>(path, {
      encoding: 'binary',
      maxDbs: 8,
      maxReaders: 512,
      mapSize: MAP_BYTES,
      noSubdir: false,
      readOnly,
      // A commit returns only after its fsync, so no reader sees what a power failure could undo.
      overlappingSync: false,
    })
    return {
      root,
      topics: root.openDB({ name: 'topics', encoding: 'json' }),
      // Chunks of earlier versions are compressed by the binding; new ones are compressed already.
      chunks: root.openDB({ name: 'chunks', encoding: 'binary', compression: { threshold: NEVER } }),
      times: root.openDB({ name: 'times', encoding: 'json' }),
      groups: root.openDB({ name: 'groups', encoding: 'json' }),
      schemas: root.openDB({ name: 'schemas', encoding: 'json' }),
    }
  } catch (cause) {
    throw new ConfigError({
      code: 'log_unavailable',
      what: 'Cannot open the log',
      where: { file: path },
      got: cause instanceof Error ? cause.message : String(cause),
      fix: readOnly
        ? 'Run `dextape up` once, or set DEXTAPE_DATA_DIR to an existing data directory.'
        : 'Set DEXTAPE_DATA_DIR to a directory this user can write to.',
      cause,
    })
  }
}

/** Chunks removed in one transaction: a long truncate must not block appends. */
const CHUNKS_PER_TRUNCATION = 500

export type FoundChunk = { first: number; bytes: Buffer; times?: ChunkTimes | undefined }

export function appendChunks(
  env: Environment,
  topic: string,
  chunks: readonly Chunk[],
): { id: number; firstOffset: number } {
  const state = env.topics.get(topic) ?? newTopic(env, topic)
  const firstOffset = state.end
  for (const chunk of chunks) {
    env.chunks.put([state.id, state.end], storedChunk(chunk))
    if (state.end === state.start || chunk.newestMs > state.newestMs) {
      env.times.put([state.id, chunk.newestMs], state.end)
      state.newestMs = chunk.newestMs
    }
    state.end += chunk.records
    state.bytes += chunk.payloadBytes
  }
  env.topics.put(topic, state)
  return { id: state.id, firstOffset }
}

/** Its name is also stored where it is never rewritten: a shortened file loses the table of topics first. */
function newTopic(env: Environment, topic: string): TopicState {
  const id = env.topics.getCount() + 1
  env.schemas.put(['topic', id], topic)
  sealSchemas(env)
  return { id, start: 0, end: 0, bytes: 0, newestMs: 0 }
}

/** Schemas have no checksum of their own. Called within the transaction that changes them. */
export function sealSchemas({ schemas }: Pick<Environment, 'schemas'>): void {
  schemas.put(SCHEMAS_SEAL, checksumOfSchemas(schemas))
}

/** For a log that is written again, where topics get other ids. */
export function removeTopicNames({ schemas }: Pick<Environment, 'schemas'>): void {
  for (const key of [...schemas.getKeys({ start: ['topic'], end: ['topic', MOST_TOPICS] })]) schemas.remove(key)
}

const MOST_TOPICS = 1e9
const SCHEMAS_SEAL = 'checksum'
export const WRONG_SCHEMAS = 'the schemas have a wrong checksum'

/** Logs of earlier versions have no checksum. */
export function areSchemasWhole({ schemas }: Pick<Environment, 'schemas'>): boolean {
  try {
    const sealed = schemas.get(SCHEMAS_SEAL)
    return sealed === undefined || sealed === checksumOfSchemas(schemas)
  } catch {
    // One of them is not even JSON any more.
    return false
  }
}

function checksumOfSchemas(schemas: Environment['schemas']): number {
  let checksum = 0
  for (const { key, value } of schemas.getRange())
    if (key !== SCHEMAS_SEAL) checksum = crc32(JSON.stringify([key, value]), checksum)
  return checksum
}

/** Reads every record of a log: what is wrong with the first one that is, or with what leads to it. */
export function findRecordProblem(env: Environment): string | undefined {
  if (!areSchemasWhole(env)) return WRONG_SCHEMAS
  for (const { key: topic, value: state } of env.topics.getRange()) {
    if (![state.id, state.start, state.end].every(Number.isInteger)) return `topic ${topic} has no valid entry`
    const times: string[] = []
    let next = state.start
    let newestMs = -1
    for (const { key, value } of env.chunks.getRange({ start: [state.id], end: [state.id + 1] })) {
      const first = (key as [number, number])[1]
      const chunk = plainChunk(value)
      if (first > next || chunk === undefined) return `record ${Math.max(next, first)} of ${topic} is damaged`
      const ofChunkMs = chunkNewestMs(chunk, Math.max(0, next - first))
      if (ofChunkMs > newestMs) times.push(`${ofChunkMs} ${first}`)
      newestMs = Math.max(newestMs, ofChunkMs)
      next = first + chunkRecords(chunk)
    }
    if (next !== state.end) return `${topic} ends at offset ${next}, expected ${state.end}`
    const indexed = env.times.getRange({ start: [state.id], end: [state.id + 1] })
    const found = [...indexed].map(({ key, value }) => `${(key as [number, number])[1]} ${value}`)
    if (found.join() !== times.join()) return `the index of times of ${topic} is wrong`
  }
  return undefined
}

/** `keep`: the chunk was read from the file. */
export type ChunksInMemory = { find(offset: number): FoundChunk | undefined; keep(chunk: FoundChunk): void }

export function readRecords(
  env: Environment,
  state: TopicState,
  from: number,
  maxRecords: number,
  maxBytes: number,
  inMemory: ChunksInMemory,
): LogRecord[] {
  const records: LogRecord[] = []
  let offset = Math.max(from, state.start)
  let bytesLeft = maxBytes
  while (offset < state.end && records.length < maxRecords && bytesLeft > 0) {
    const known = inMemory.find(offset)
    const chunk = known ?? chunkAt(env, state, offset)
    if (chunk === undefined) throw chunkDamaged(offset, 'the record is missing')
    if (known === undefined) inMemory.keep(chunk)
    const before = records.length
    bytesLeft = unpackChunk(chunk.bytes, chunk.first, offset - chunk.first, records, maxRecords, bytesLeft)
    if (chunk.times !== undefined) addTimes(records.slice(before), chunk.first, chunk.times)
    offset = chunk.first + chunkRecords(chunk.bytes)
  }
  return records
}

function addTimes(records: readonly LogRecord[], first: number, { appendedMs, arrivedMs }: ChunkTimes): void {
  for (const record of records) {
    record.appendedMs = appendedMs
    record.arrivedMs = arrivedMs[record.offset - first]
  }
}

export const hasRecord = ({ first, bytes }: FoundChunk, offset: number): boolean =>
  first <= offset && offset < first + chunkRecords(bytes)

function chunkAt(env: Environment, state: TopicState, offset: number): FoundChunk | undefined {
  const found = findStored(env, state, offset)
  if (found === undefined) return undefined
  const { first } = found
  const bytes = plainChunk(found.bytes)
  if (bytes === undefined) throw chunkDamaged(first, 'its checksum is wrong')
  return offset < first + chunkRecords(bytes) ? { first, bytes } : undefined
}

function findStored(env: Environment, state: TopicState, offset: number): FoundChunk | undefined {
  const exact = env.chunks.get([state.id, offset])
  if (exact !== undefined) return { first: offset, bytes: exact }
  for (const { key, value } of env.chunks.getRange({
    start: [state.id, offset],
    end: [state.id],
    reverse: true,
    limit: 1,
  })) {
    return { first: (key as [number, number])[1], bytes: value }
  }
  return undefined
}

/** Exact even if timestamps decrease: the index has the first chunk with the timestamp, its table the record. */
export function firstOffsetAt(env: Environment, state: TopicState, timestampMs: number): number {
  for (const { value } of env.times.getRange({ start: [state.id, timestampMs], end: [state.id + 1], limit: 1 })) {
    const chunk = chunkAt(env, state, value)
    if (chunk === undefined) break
    let offset = Math.max(chunk.first, state.start)
    while (chunkTimestampMs(chunk.bytes, offset - chunk.first) < timestampMs) offset++
    return offset
  }
  return state.end
}

/** Deletes records below an offset, as many as one transaction should; true when there is more to do. */
export function truncateSome(env: Environment, topic: string, beforeOffset: number): boolean {
  const state = env.topics.get(topic)
  if (state === undefined) return false
  const target = Math.min(beforeOffset, state.end)
  if (target <= state.start) return false

  const whole: number[] = []
  let reached = state.start
  for (const { key, value } of env.chunks.getRange({
    start: [state.id],
    end: [state.id, target],
    limit: CHUNKS_PER_TRUNCATION,
  })) {
    const first = (key as [number, number])[1]
    const next = first + chunkRecords(value)
    state.bytes -= payloadFrom(value, first, state.start)
    reached = Math.min(next, target)
    if (next <= target) whole.push(first)
    else state.bytes += payloadFrom(value, first, target)
  }
  for (const first of whole) env.chunks.remove([state.id, first])
  state.start = reached
  reindexTimes(env, state)
  env.topics.put(topic, state)
  return reached < target
}

/** Payload of the records of a stored chunk from an offset on. */
function payloadFrom(stored: Buffer, first: number, offset: number): number {
  if (offset <= first) return storedPayloadBytes(stored)
  const bytes = plainChunk(stored)
  if (bytes === undefined) throw chunkDamaged(first, 'its checksum is wrong')
  return chunkPayloadBytes(bytes, offset - first)
}

/**
 * After a truncate the running maximum starts again at `start`: chunks that a deleted, higher timestamp had kept out of the
 * index are added, up to the first remaining entry, which is above all of them.
 */
function reindexTimes(env: Environment, state: TopicState): void {
  const forgotten: number[] = []
  let firstKept = state.end
  for (const { key, value } of env.times.getRange({ start: [state.id], end: [state.id + 1] })) {
    if (value >= state.start) {
      firstKept = value
      break
    }
    forgotten.push((key as [number, number])[1])
  }
  for (const timestampMs of forgotten) env.times.remove([state.id, timestampMs])

  let maximumMs = -1
  for (let offset = state.start; offset < firstKept; ) {
    const chunk = chunkAt(env, state, offset)
    if (chunk === undefined) break
    const newestMs = chunkNewestMs(chunk.bytes, offset - chunk.first)
    if (newestMs > maximumMs) {
      env.times.put([state.id, newestMs], chunk.first)
      maximumMs = newestMs
    }
    offset = chunk.first + chunkRecords(chunk.bytes)
  }
  if (firstKept === state.end) state.newestMs = Math.max(maximumMs, 0)
}
