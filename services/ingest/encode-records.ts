/** Source items → log entries. A record the codec refuses becomes a dead letter, so that it never stops a chain. */
import type { RecordName } from '../../schemas/avro.js'
import type { DeadLetter } from '../core/domain/records.js'
import type { Codec } from '../core/log/codec.js'
import { encodeFittingLetter, splitBlock } from '../core/log/parts.js'
import { deadTopic, type LogEntry } from '../core/log/port.js'
import { chainOf, type SourceItem, type SourceRecord } from './source.js'
import { jsonOf } from './validate/check-fields.js'

export type IngestCodec = Pick<
  Codec,
  'encodeBlock' | 'encodeRetract' | 'encodeDeadLetter' | 'prepare' | 'decodeLogRecord' | 'learn'
>

export type TopicEntry = { topic: string; entry: LogEntry }

/** `topic`: of the chain's live generation. */
export function encodeRecord(
  record: SourceRecord,
  topic: string,
  codec: IngestCodec,
  maxValueBytes: number,
  chainTimeMs: number,
): TopicEntry[] {
  const chain = chainOf(record)
  if (record.kind === 'retract') {
    const value = codec.encodeRetract(topic, record.retract)
    return [{ topic, entry: { key: chain, value, timestampMs: chainTimeMs } }]
  }
  const timestampMs = record.block.time * 1000
  const parts = splitBlock(record.block, (part) => codec.encodeBlock(topic, part), maxValueBytes)
  return parts.map((value) => ({ topic, entry: { key: chain, value, timestampMs } }))
}

export function encodeLetter(
  letter: DeadLetter,
  codec: IngestCodec,
  maxValueBytes: number,
  chainTimeMs: number,
): TopicEntry {
  // A letter without a time gets the chain's: retention is by time, and 0 would be deleted at once.
  const timestampMs = letter.at > 0 ? letter.at * 1000 : chainTimeMs
  const topic = deadTopic(letter.chain)
  const value = encodeFittingLetter(codec, topic, letter, maxValueBytes)
  return { topic, entry: { key: letter.reason, value, timestampMs } }
}

/** The dead letter of a record that the codec or the log's size limit refused. */
export function unencodable(record: SourceRecord, source: string, error: unknown): DeadLetter {
  const [chain, number, time] =
    record.kind === 'block'
      ? [record.block.chain, record.block.number, record.block.time]
      : [record.retract.chain, record.retract.from_number, 0]
  return {
    chain,
    reason: 'unencodable',
    detail: error instanceof Error ? error.message : String(error),
    source,
    block_number: number,
    position: null,
    raw: Buffer.from(jsonOf(record.kind === 'block' ? record.block : record.retract) ?? ''),
    at: time,
  }
}

export type SchemasOfTopic = { topic: string; records: RecordName[] }

/** Which schemas must be registered before a topic's first record: a remote registry must know them. */
export interface TopicSchemas {
  /** Undefined: registered before. */
  unregisteredSchemas(item: Exclude<SourceItem<unknown>, { kind: 'idle' }>): SchemasOfTopic | undefined
  markRegistered(schemas: SchemasOfTopic): void
}

export function createTopicSchemas(topicOf: (chain: string) => string): TopicSchemas {
  const registered = new Set<string>()
  return {
    unregisteredSchemas(item) {
      const topic = item.kind === 'dead' ? deadTopic(item.letter.chain) : topicOf(chainOf(item.record))
      if (registered.has(topic)) return undefined
      return { topic, records: item.kind === 'dead' ? ['dead_letter'] : ['block', 'retract'] }
    },
    markRegistered({ topic }) {
      registered.add(topic)
    },
  }
}
