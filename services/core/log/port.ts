/**
 * The log: topics of ordered records, each topic one partition. Two implementations (embedded on LMDB, Kafka) pass one
 * contract suite. Payloads are opaque bytes here; codec.ts encodes them as Avro.
 */

import type { BlockName } from '../runtime/tracing.js'

/** An entry to append. `timestampMs` is chain time where the record has one. */
export type LogEntry = {
  key: string
  value: Uint8Array
  timestampMs: number
  /** When the block that this is about arrived, by the wall clock, if known. It is not stored. */
  arrivedMs?: number | undefined
  /** Set if its block is traced. It is not stored. */
  traced?: BlockName
}

export type LogRecord = LogEntry & {
  offset: number
  /** When it was appended, by the wall clock, if known: only shortly after, in the same process. */
  appendedMs?: number
}

export type TopicRange = {
  topic: string
  /** Offset of the oldest kept record. */
  start: number
  /** Offset the next record will get. */
  end: number
}

export type TopicInfo = TopicRange & {
  /** Approximate size of its records in storage. */
  bytes: number
  /** Highest timestamp in the topic; 0 when empty. */
  newestMs: number
}

export type ReadOptions = {
  /** First offset wanted; below the kept range it starts at the oldest kept record. */
  from: number
  /** At most this many records in one batch. */
  maxRecords?: number
  /** At most about this many bytes in one batch (but at least one record). */
  maxBytes?: number
}

export interface EventLog {
  /** Appends all entries in order, atomically where the log can; resolves with the first offset once they are durable. */
  append(topic: string, entries: readonly LogEntry[]): Promise<number>
  /** One batch from an offset; empty at the end of the topic. */
  read(topic: string, options: ReadOptions): Promise<LogRecord[]>
  /**
   * Batches from an offset without end: waits for new records; ends when the signal aborts. Fails with
   * `offset_lost` when the topic ends before that offset.
   */
  follow(topic: string, options: ReadOptions, signal: AbortSignal): AsyncGenerator<LogRecord[]>
  /** The first offset whose timestamp is at or after `timestampMs`; the topic's end when there is none. */
  offsetAt(topic: string, timestampMs: number): Promise<number>
  /** A group's committed position: the offset it will read next. */
  commit(group: string, topic: string, nextOffset: number): Promise<void>
  committed(group: string, topic: string): Promise<number | undefined>
  /** Deletes records below an offset. */
  truncate(topic: string, beforeOffset: number): Promise<void>
  /** Deletes records whose timestamp is more than `keepMs` older than the topic's newest (chain time, not wall clock). */
  retain(topic: string, keepMs: number): Promise<void>
  info(topic: string): Promise<TopicInfo>
  /** Every topic; cheap enough to call each second. */
  topics(): Promise<TopicRange[]>
  /** Largest value of a record; larger records are split into parts (parts.ts). */
  readonly maxValueBytes: number
  close(): Promise<void>
}

/** Aggregators share the chains as this group. Its position is for monitoring; the checkpoint is authoritative. */
export const AGGREGATE_GROUP = 'aggregate'
/** Serve commits how far it has read a chain's updates as this group: unread updates are not deleted. */
export const SERVE_GROUP = 'serve'
/** REST does so as this group where it has a thread of its own. */
export const REST_GROUP = 'serve.rest'

const BLOCKS = 'dex.blocks.'
/** A chain's blocks; each generation of its history has its own topic. */
export const blocksTopic = (chain: string, generation = 1): string =>
  generation === 1 ? `${BLOCKS}${chain}` : `${BLOCKS}${chain}.g${generation}`

/** The chain and generation of a blocks topic; undefined for other topics. */
export function blocksOf(topic: string): { chain: string; generation: number } | undefined {
  // Chain names have no dot.
  const [, chain, generation = '1'] = /^dex\.blocks\.([^.]+)(?:\.g(\d+))?$/.exec(topic) ?? []
  return chain === undefined ? undefined : { chain, generation: Number(generation) }
}
export const updatesTopic = (chain: string): string => `dex.updates.${chain}`
/** One record per trade; only if configured. */
export const tradesTopic = (chain: string): string => `dex.trades.${chain}`
export const deadTopic = (chain: string): string => `dex.dead.${chain}`
/** The fold's checkpoints. Those of a replay are in a topic of its epoch, before and after the chain is switched to it. */
export const stateTopic = (chain: string, replayedIn?: number): string =>
  replayedIn === undefined ? `dex.state.${chain}` : `dex.state.${chain}.e${replayedIn}`

/* Topics that the processes of a cluster share besides blocks and updates: internal, compacted, JSON. */

/** API keys as hashes, revocations, and what keys spent. */
export const KEYS_TOPIC = 'dex.keys'
/** Where each source resumes, and the origin of the blocks. */
export const SOURCES_TOPIC = 'dex.sources'
/** Which generation of a chain's history is live, and which is being written. */
export const GENERATIONS_TOPIC = 'dex.generations'
/** Status reports of running ingest and aggregate services. */
export const STATUS_TOPIC = 'dex.status'
