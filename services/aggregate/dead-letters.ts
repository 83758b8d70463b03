/** Writes what could not be decoded or applied to the chain's dead letters: each once, after a replay too. */
import type { DextapeError } from '../core/domain/errors.js'
import type { DeadLetter } from '../core/domain/records.js'
import type { Codec, Loose } from '../core/log/codec.js'
import { encodeFittingLetter } from '../core/log/parts.js'
import type { EventLog, LogEntry, LogRecord } from '../core/log/port.js'
import type { DeadEvent } from './fold/block-changes.js'

const REMEMBERED = 4096

export type DeadLetters = {
  addRecord(record: LogRecord, topic: string, error: DextapeError): void
  addEvent(event: DeadEvent, source: string, atS: number): void
  /** Appends what was added. */
  flush(): Promise<void>
  /** Letters written since the start, by reason. */
  readonly counts: ReadonlyMap<string, number>
}

export async function createDeadLetters(
  log: EventLog,
  codec: Codec,
  topic: string,
  chain: string,
): Promise<DeadLetters> {
  const { end } = await log.info(topic)
  const recent = await log.read(topic, { from: Math.max(0, end - REMEMBERED), maxRecords: REMEMBERED })
  const known = new Set(recent.map((record) => record.key))
  const waiting: LogEntry[] = []
  const counts = new Map<string, number>()
  await codec.prepare(topic, ['dead_letter'])

  function add(key: string, timestampMs: number, letter: Omit<Loose<DeadLetter>, 'chain'>): void {
    if (known.has(key)) return
    const value = encodeFittingLetter(codec, topic, { chain, ...letter }, log.maxValueBytes)
    counts.set(letter.reason, (counts.get(letter.reason) ?? 0) + 1)
    known.add(key)
    waiting.push({ key, value, timestampMs })
  }

  return {
    addRecord(record, source, error) {
      add(`${source}@${record.offset}`, record.timestampMs, {
        reason: error.code,
        detail: error.message,
        source: `${source}@${record.offset}`,
        raw: record.value,
        at: Math.floor(record.timestampMs / 1000),
      })
    },
    addEvent(event, source, atS) {
      add(`${source}:${event.position}`, atS * 1000, {
        reason: event.reason,
        detail: event.detail,
        source,
        block_number: event.block,
        position: event.position,
        raw: Buffer.from(event.raw),
        at: atS,
      })
    },
    async flush() {
      const entries = waiting.splice(0)
      if (entries.length > 0) await log.append(topic, entries)
    },
    counts,
  }
}

/** For a fold beside the live one, which has written them. */
export function noDeadLetters(): DeadLetters {
  return { addRecord: () => {}, addEvent: () => {}, flush: async () => {}, counts: new Map() }
}
