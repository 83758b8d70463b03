/** An in-memory log that fails on request, to test the code around it. */
import type { EventLog, LogEntry, LogRecord, TopicInfo } from '../../services/core/log/port.js'

export type MemoryLog = EventLog & { entries: Map<string, LogRecord[]>; beforeAppend: (topic: string) => void }

export function memoryLog(maxValueBytes = 1_000_000): MemoryLog {
  const entries = new Map<string, LogRecord[]>()
  const of = (topic: string): LogRecord[] => entries.get(topic) ?? []
  const info = (topic: string): TopicInfo => ({ topic, start: 0, end: of(topic).length, bytes: 0, newestMs: 0 })
  const log: MemoryLog = {
    entries,
    beforeAppend: () => {},
    maxValueBytes,
    async append(topic: string, added: readonly LogEntry[]) {
      log.beforeAppend(topic)
      const first = of(topic).length
      entries.set(topic, [...of(topic), ...added.map((entry, index) => ({ ...entry, offset: first + index }))])
      return first
    },
    read: async (topic, { from, maxRecords }) => of(topic).slice(from, from + (maxRecords ?? 10_000)),
    async *follow() {},
    offsetAt: async () => 0,
    commit: async () => {},
    committed: async () => undefined,
    truncate: async () => {},
    retain: async () => {},
    info: async (topic) => info(topic),
    topics: async () => [...entries.keys()].map(info),
    close: async () => {},
  }
  return log
}
