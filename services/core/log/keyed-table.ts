/**
 * A topic read as a table: the latest value of each key, in memory. The processes of a cluster share what is not blocks or
 * updates in such topics. On Kafka they are compacted: offsets have gaps, and only the newest record of a key is certain to
 * exist. Where the order of writers matters, each writes under its own key and they compare offsets.
 */
import { createBackoff, isRetryable } from '../runtime/backoff.js'
import { type Logger, silentLogger } from '../runtime/logger.js'
import type { EventLog, LogEntry, LogRecord } from './port.js'

export type TableEntry<Value> = { key: string; value: Value; offset: number }

export interface KeyedTable<Value> {
  get(key: string): Value | undefined
  /** Entries whose key has the prefix, in the order they were last written. */
  entries(prefix?: string): TableEntry<Value>[]
  /**
   * Durable once resolved; resolves with the record's offset. By then the table also has everything before it in the topic.
   * After a failure the value may be stored or not: put it again.
   */
  put(key: string, value: Value): Promise<number>
  /** The same for several at once; resolves with the first one's offset. */
  putAll(values: ReadonlyMap<string, Value>): Promise<number>
  /** Reads to the topic's end. */
  refresh(): Promise<void>
  /** Keeps the table current until the signal aborts; retries while the log is unreachable. */
  follow(signal: AbortSignal): Promise<void>
  /** Called for each newer value of a key, own ones too. */
  onChange(listener: (entry: TableEntry<Value>) => void): void
}

export type KeyedTableOptions = { logger?: Logger; nowMs?: () => number }

/** Short, so that reading resumes soon after the log is reachable again. */
const LONGEST_WAIT_MS = 1000

/** The table as the topic has it now; empty if the topic does not exist yet. */
export async function openKeyedTable<Value>(
  log: EventLog,
  topic: string,
  options: KeyedTableOptions = {},
): Promise<KeyedTable<Value>> {
  const table = createKeyedTable<Value>(log, topic, options)
  await table.refresh()
  return table
}

/** An empty table, for a log that may be unreachable at the start: `refresh` or `follow` fills it. Values are JSON. */
export function createKeyedTable<Value>(
  log: EventLog,
  topic: string,
  { logger = silentLogger, nowMs = Date.now }: KeyedTableOptions = {},
): KeyedTable<Value> {
  const byKey = new Map<string, TableEntry<Value>>()
  const listeners: ((entry: TableEntry<Value>) => void)[] = []
  /** Everything below this offset is read. */
  let next = 0

  function take(entry: TableEntry<Value>): void {
    if (entry.offset <= (byKey.get(entry.key)?.offset ?? -1)) return
    byKey.set(entry.key, entry)
    for (const listener of listeners) listener(entry)
  }

  function takeRecords(records: readonly LogRecord[]): void {
    for (const { key, value, offset } of records) {
      if (offset < next) continue
      next = offset + 1
      const parsed = parse<Value>(value)
      if (parsed === undefined) logger.warn('skipped a record that is not JSON', { topic, offset })
      else take({ key, value: parsed.value, offset })
    }
  }

  async function refresh(): Promise<void> {
    for (;;) {
      const records = await log.read(topic, { from: next })
      if (records.length === 0) return
      takeRecords(records)
    }
  }

  async function putAll(values: ReadonlyMap<string, Value>): Promise<number> {
    const timestampMs = nowMs()
    const entries = [...values].map(([key, value]) => tableEntry(key, value, timestampMs))
    const first = await log.append(topic, entries)
    // Usually nothing was written in between, which saves a read.
    if (first > next) await refresh()
    if (first === next) next = first + entries.length
    let offset = first
    for (const [key, value] of values) take({ key, value, offset: offset++ })
    return first
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS })
    while (!signal.aborted) {
      try {
        for await (const records of log.follow(topic, { from: next }, signal)) {
          takeRecords(records)
          backoff.reset()
        }
        return
      } catch (error) {
        if (!isRetryable(error)) throw error
        await backoff.wait(signal)
      }
    }
  }

  return {
    get: (key) => byKey.get(key)?.value,
    entries: (prefix = '') =>
      [...byKey.values()].filter(({ key }) => key.startsWith(prefix)).sort((a, b) => a.offset - b.offset),
    put: (key, value) => putAll(new Map([[key, value]])),
    putAll,
    refresh,
    follow,
    onChange: (listener) => void listeners.push(listener),
  }
}

/** For writers that do not read the table. */
export function tableEntry(key: string, value: unknown, timestampMs: number): LogEntry {
  return { key, value: Buffer.from(JSON.stringify(value)), timestampMs }
}

function parse<Value>(bytes: Uint8Array): { value: Value } | undefined {
  try {
    return { value: JSON.parse(Buffer.from(bytes).toString('utf8')) as Value }
  } catch {
    return undefined
  }
}
