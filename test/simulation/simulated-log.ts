/** The log of a simulated cluster: what was appended is there for good, whoever dies. */
import { DextapeError } from '../../services/core/domain/errors.js'
import type { EventLog, LogEntry, LogRecord, ReadOptions } from '../../services/core/log/port.js'
import type { SimulatedProcess } from './faults.js'

type Topic = { start: number; records: LogRecord[] }

/** What survives every process. */
export type LogDisk = {
  topic(name: string): Topic
  names(): string[]
  committed: Map<string, number>
  append(name: string, entries: readonly LogEntry[]): number
  /** Once something is appended to the topic. */
  changed(name: string): Promise<void>
}

const MAX_VALUE_BYTES = 1_000_000
const DEFAULT_BATCH = 500

export function createLogDisk(): LogDisk {
  const topics = new Map<string, Topic>()
  const waiting = new Map<string, (() => void)[]>()

  function topic(name: string): Topic {
    const known = topics.get(name)
    if (known !== undefined) return known
    const made: Topic = { start: 0, records: [] }
    topics.set(name, made)
    return made
  }

  return {
    topic,
    names: () => [...topics.keys()],
    committed: new Map(),
    append(name, entries) {
      const to = topic(name)
      const first = endOf(to)
      for (const { key, value, timestampMs } of entries)
        to.records.push({ key, value: Buffer.from(value), timestampMs, offset: endOf(to) })
      for (const wake of waiting.get(name) ?? []) wake()
      waiting.delete(name)
      return first
    },
    changed(name) {
      return new Promise((resolve) => {
        waiting.set(name, [...(waiting.get(name) ?? []), resolve])
      })
    },
  }
}

const endOf = ({ start, records }: Topic): number => start + records.length

/** Kafka appends a batch whole or not at all; several batches of one call may be cut between them. */
export function openSimulatedLog(disk: LogDisk, { ask, life }: SimulatedProcess): EventLog {
  const read = (name: string, { from, maxRecords = DEFAULT_BATCH }: ReadOptions): LogRecord[] => {
    const { start, records } = disk.topic(name)
    const first = Math.max(0, from - start)
    return records.slice(first, first + maxRecords).map((record) => ({ ...record }))
  }

  async function* follow(name: string, options: ReadOptions, signal: AbortSignal): AsyncGenerator<LogRecord[]> {
    let { from } = options
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!signal.aborted) {
      const end = endOf(disk.topic(name))
      if (from > end) throw offsetLost(name, from, end)
      if (from === end) await Promise.race([disk.changed(name), aborted])
      // A dead process is never woken.
      if (!life.isAlive) await new Promise<never>(() => {})
      if (signal.aborted) return
      const batch = await ask({ part: 'log', apply: () => read(name, { ...options, from }) })
      const last = batch.at(-1)
      if (last === undefined) continue
      from = last.offset + 1
      yield batch
    }
  }

  return {
    append: (name, entries) =>
      ask({
        part: 'log',
        apply: () => disk.append(name, entries),
        ...(entries.length > 1 && {
          applyPart: (random) => void disk.append(name, entries.slice(0, random.int(1, entries.length - 1))),
        }),
      }),
    read: (name, options) => ask({ part: 'log', apply: () => read(name, options) }),
    follow,
    offsetAt: (name, timestampMs) =>
      ask({
        part: 'log',
        apply: () => {
          const found = disk.topic(name).records.find((record) => record.timestampMs >= timestampMs)
          return found?.offset ?? endOf(disk.topic(name))
        },
      }),
    commit: (group, name, next) => ask({ part: 'log', apply: () => void disk.committed.set(`${group} ${name}`, next) }),
    committed: (group, name) => ask({ part: 'log', apply: () => disk.committed.get(`${group} ${name}`) }),
    truncate: (name, before) => ask({ part: 'log', apply: () => truncate(disk.topic(name), before) }),
    retain: (name, keepMs) =>
      ask({
        part: 'log',
        apply: () => {
          const { records, start } = disk.topic(name)
          const newest = records.reduce((highest, { timestampMs }) => Math.max(highest, timestampMs), 0)
          const stays = records.findIndex(({ timestampMs }) => timestampMs >= newest - keepMs)
          truncate(disk.topic(name), stays < 0 ? start : start + stays)
        },
      }),
    info: (name) =>
      ask({
        part: 'log',
        apply: () => {
          const { start, records } = disk.topic(name)
          const bytes = records.reduce((sum, { value }) => sum + value.byteLength, 0)
          const newestMs = records.reduce((highest, { timestampMs }) => Math.max(highest, timestampMs), 0)
          return { topic: name, start, end: start + records.length, bytes, newestMs }
        },
      }),
    topics: () =>
      ask({
        part: 'log',
        apply: () =>
          disk.names().map((topic) => ({ topic, start: disk.topic(topic).start, end: endOf(disk.topic(topic)) })),
      }),
    maxValueBytes: MAX_VALUE_BYTES,
    close: async () => {},
  }
}

function truncate(topic: Topic, before: number): void {
  const gone = Math.min(Math.max(0, before - topic.start), topic.records.length)
  topic.records = topic.records.slice(gone)
  topic.start += gone
}

function offsetLost(topic: string, from: number, end: number): DextapeError {
  return new DextapeError({
    code: 'offset_lost',
    what: 'The topic ends before the wanted offset',
    where: { topic, position: `offset ${from}` },
    got: `an end of ${end}`,
  })
}
