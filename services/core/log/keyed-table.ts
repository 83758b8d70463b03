/**
 * A topic read as a table: the latest value of each key, in memory. What the processes of a cluster share besides blocks
 * and updates stands in such topics; on Kafka they are compacted, so offsets have holes and only the newest record of a
 * key is sure to be there. Where the order of writers decides, they write under keys of their own and compare offsets.
 */
import { createBackoff, isRetryable } from '../runtime/backoff.js'
import { type Logger, silentLogger } from '../runtime/logger.js'
import type { EventLog, LogEntry, LogRecord } from './port.js'

export type TableEntry<Value> = { key: string; value: Value; offset: number }

export interface KeyedTable<Value> {
  get(key: string): Value | undefined
  /** Those whose key begins so, in the order they were last written. */
  entries(prefix?: string): TableEntry<Value>[]
  /**
   * Durable once resolved; resolves with the record's offset. By then the table also has everything that stands before
   * it in the topic. After a failure the value may be there or not: put it again.
   */
  put(key: string, value: Value): Promise<number>
  /** The same for several at once; resolves with the first one's offset. */
  putAll(values: ReadonlyMap<string, Value>): Promise<number>
  /** Reads to the topic's end. */
  refresh(): Promise<void>
  /** Keeps the table current until the signal aborts; a log that is away is tried again. */
  follow(signal: AbortSignal): Promise<void>
  /** Called for each newer value of a key, own ones too. */
  onChange(listener: (entry: TableEntry<Value>) => void): void
}

export type KeyedTableOptions = { logger?: Logger; nowMs?: () => number }

/** So that a log that comes back is read again soon. */
const LONGEST_WAIT_MS = 1000

/** The table as the topic has it now; a topic nobody wrote yet is an empty table. */
export async function openKeyedTable<Value>(
  log: EventLog,
  topic: string,
  options: KeyedTableOptions = {},
): Promise<KeyedTable<Value>> {
  const table = createKeyedTable<Value>(log, topic, options)
  await table.refresh()
  return table
}

/** An empty table, for a log that may be away at the start: `refresh` or `follow` fills it. Values are JSON. */
export function createKeyedTable<Value>(
  log: EventLog,
  topic: string,
  { logger = silentLogger, nowMs = Date.now }: KeyedTableOptions = {},
): KeyedTable<Value> {
  const byKey = new Map<string, TableEntry<Value>>()
  const listeners: ((entry: TableEntry<Value>) => void)[] = []
  /** Everything below is read. */
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
      if (parsed === undefined) logger.warn('a record is not JSON and is passed over', { topic, offset })
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
    // At the end of what was read nobody stands between: the usual case, and it saves a read.
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

/** For who only writes. */
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
