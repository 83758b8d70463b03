/** The log on LMDB: no server; several processes can append to and follow one data directory. */
import { writeFileSync } from 'node:fs'
import { DextapeError } from '../domain/errors.js'
import { wallMs } from '../runtime/stage-latency.js'
import { createArrivals } from './arrivals.js'
import { assertEntries, assertName, assertOffset, logDamaged, offsetLost } from './assertions.js'
import { packChunks } from './chunk.js'
import { damageMarkOf } from './lmdb-file.js'
import {
  appendChunks,
  areSchemasWhole,
  type Environment,
  type EnvironmentOptions,
  type FoundChunk,
  firstOffsetAt,
  hasRecord,
  openEnvironment,
  readRecords,
  type TopicState,
  truncateSome,
  WRONG_SCHEMAS,
} from './lmdb-tables.js'
import type { EventLog, LogEntry, LogRecord, ReadOptions, TopicInfo } from './port.js'
import { embeddedRegistry, type SchemaRegistry } from './registry.js'
import { type ChunkTimes, createTail, type TailChunk } from './tail.js'
import { openThreadChannel, sharedBuffer, type ThreadAppend } from './thread-channel.js'

export type EmbeddedOptions = EnvironmentOptions & {
  maxValueBytes?: number
  /** Other threads of this process have the log open too. */
  hasThreads?: boolean
}

const DEFAULT_MAX_VALUE_BYTES = 1_000_000
const TAIL_BYTES = 4 * 1024 * 1024
const DEFAULT_BATCH_RECORDS = 10_000
const DEFAULT_BATCH_BYTES = 4 * 1024 * 1024

export function openEmbeddedLog(options: EmbeddedOptions): EventLog {
  return openEmbedded(options).log
}

/** The log and the schema registry in the same database; closing the log closes both. */
export function openEmbedded(options: EmbeddedOptions): { log: EventLog; registry: SchemaRegistry } {
  const env = openEnvironment(options)
  if (!areSchemasWhole(env)) {
    void env.root.close()
    throw logDamaged({ file: options.path }, WRONG_SCHEMAS)
  }
  return { log: embeddedLog(env, options), registry: embeddedRegistry(env) }
}

function embeddedLog(env: Environment, options: EmbeddedOptions): EventLog {
  const { path, maxValueBytes = DEFAULT_MAX_VALUE_BYTES, hasThreads = false } = options
  const arrivals = createArrivals()
  const tail = createTail(TAIL_BYTES)
  /** By topic: a chunk from the file whose last records the next read will ask for. Reading one means decompressing it. */
  const halfRead = new Map<number, FoundChunk>()
  const threads = hasThreads ? openThreadChannel(path) : undefined
  let closing: Promise<void> | undefined

  function assertOpen(): void {
    if (closing === undefined) return
    throw new DextapeError({ code: 'log_closed', what: 'The log is closed', where: { file: path } })
  }

  async function write<T>(topic: string, edit: () => T): Promise<T> {
    try {
      // Concurrent edits share a commit, each in its own child transaction: a failed one is rolled back.
      return await env.root.childTransaction(edit)
    } catch (cause) {
      throw new DextapeError({
        code: 'log_write_failed',
        what: 'Cannot write to the log',
        retry: true,
        where: { topic, file: path },
        got: cause instanceof Error ? cause.message : String(cause),
        fix: 'Check for a full disk or a read-only data directory.',
        cause,
      })
    }
  }

  /** The newest committed state, other processes' commits included. */
  function latest(topic: string): TopicState | undefined {
    env.root.resetReadTxn()
    return env.topics.get(topic)
  }

  function readNow(topic: string, { from, maxRecords, maxBytes }: ReadOptions): LogRecord[] {
    assertOpen()
    const state = latest(topic)
    if (state === undefined || from >= state.end) return []
    let last = halfRead.get(state.id)
    const inMemory = {
      find: (offset: number) => tail.find(state.id, offset) ?? (last && hasRecord(last, offset) ? last : undefined),
      keep(chunk: FoundChunk) {
        last = chunk
      },
    }
    try {
      const limits = [maxRecords ?? DEFAULT_BATCH_RECORDS, maxBytes ?? DEFAULT_BATCH_BYTES] as const
      const records = readRecords(env, state, from, ...limits, inMemory)
      const next = (records.at(-1)?.offset ?? from) + 1
      if (last !== undefined && hasRecord(last, next)) halfRead.set(state.id, last)
      else halfRead.delete(state.id)
      return records
    } catch (error) {
      if (!(error instanceof DextapeError) || error.code !== 'log_damaged') throw error
      writeFileSync(damageMarkOf(path), `${error.message}\n`)
      throw logDamaged({ file: path, topic }, error.message)
    }
  }

  function arrived(topic: string, { topicId, chunks }: ThreadAppend): void {
    for (const chunk of chunks) tail.add(topicId, chunk)
    arrivals.announce(topic)
  }

  async function truncate(topic: string, beforeOffset: number): Promise<void> {
    assertName('topic', topic)
    assertOffset(topic, beforeOffset)
    do assertOpen()
    while (await write(topic, () => truncateSome(env, topic, beforeOffset)))
  }

  return {
    maxValueBytes,

    async append(topic: string, entries: readonly LogEntry[]): Promise<number> {
      assertOpen()
      assertName('topic', topic)
      assertEntries(topic, entries, maxValueBytes)
      if (entries.length === 0) return latest(topic)?.end ?? 0
      const chunks = packChunks(entries, hasThreads ? sharedBuffer : Buffer.allocUnsafe)
      const { id, firstOffset } = await write(topic, () => appendChunks(env, topic, chunks))
      const added: TailChunk[] = []
      let first = firstOffset
      for (const { bytes, records } of chunks) {
        const times = timesOf(entries.slice(first - firstOffset, first - firstOffset + records))
        added.push({ first, end: first + records, bytes, times })
        first += records
      }
      arrived(topic, { topicId: id, chunks: added })
      threads?.announce(topic, { topicId: id, chunks: added })
      return firstOffset
    },

    async read(topic, options) {
      assertName('topic', topic)
      assertOffset(topic, options.from)
      return readNow(topic, options)
    },

    async *follow(topic, options, signal) {
      assertName('topic', topic)
      assertOffset(topic, options.from)
      threads?.listen(topic, (append) => arrived(topic, append))
      let from = options.from
      while (!signal.aborted && closing === undefined) {
        const records = readNow(topic, { ...options, from })
        const last = records.at(-1)
        if (last === undefined) {
          const next = from
          const end = latest(topic)?.end ?? 0
          if (end < next) throw offsetLost(topic, next, end)
          await arrivals.wait(topic, signal, () => closing !== undefined || (latest(topic)?.end ?? 0) > next)
          continue
        }
        from = last.offset + 1
        yield records
      }
    },

    async offsetAt(topic, timestampMs) {
      assertOpen()
      assertName('topic', topic)
      const state = latest(topic)
      return state === undefined ? 0 : firstOffsetAt(env, state, timestampMs)
    },

    async commit(group, topic, nextOffset) {
      assertOpen()
      assertName('group', group)
      assertName('topic', topic)
      assertOffset(topic, nextOffset)
      await write(topic, () => {
        env.groups.put([group, topic], nextOffset)
      })
    },

    async committed(group, topic) {
      assertOpen()
      assertName('group', group)
      assertName('topic', topic)
      env.root.resetReadTxn()
      return env.groups.get([group, topic])
    },

    truncate,

    async retain(topic, keepMs) {
      assertOpen()
      assertName('topic', topic)
      const state = latest(topic)
      if (state === undefined) return
      const first = firstOffsetAt(env, state, state.newestMs - keepMs)
      // Without something to delete, no one need wait for a write.
      if (first > state.start) await truncate(topic, first)
    },

    async info(topic) {
      assertOpen()
      assertName('topic', topic)
      return topicInfo(topic, latest(topic))
    },

    async topics() {
      assertOpen()
      env.root.resetReadTxn()
      return [...env.topics.getRange()].map(({ key, value }) => topicInfo(key, value))
    },

    close() {
      closing ??= Promise.resolve().then(async () => {
        arrivals.end()
        threads?.close()
        await env.root.close()
      })
      return closing
    },
  }
}

function timesOf(appended: readonly LogEntry[]): ChunkTimes | undefined {
  if (appended.every(({ arrivedMs }) => arrivedMs === undefined)) return undefined
  return { appendedMs: wallMs(), arrivedMs: appended.map(({ arrivedMs }) => arrivedMs) }
}

function topicInfo(topic: string, state: TopicState | undefined): TopicInfo {
  const { start, end, bytes, newestMs } = state ?? { start: 0, end: 0, bytes: 0, newestMs: 0 }
  return { topic, start, end, bytes, newestMs }
}
