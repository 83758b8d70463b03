/**
 * The log: topics of ordered records, each topic one partition. Two implementations (embedded on LMDB, Kafka) pass one
 * contract suite. Payloads are opaque bytes here; codec.ts gives them their Avro form.
 */

/** An entry to append. `timestampMs` is chain time where the record has one. */
export type LogEntry = { key: string; value: Uint8Array; timestampMs: number }

export type LogRecord = LogEntry & { offset: number }

export type TopicRange = {
  topic: string
  /** Offset of the oldest kept record. */
  start: number
  /** Offset the next record will get. */
  end: number
}

export type TopicInfo = TopicRange & {
  /** About; what its records take where they are kept. */
  bytes: number
  /** Highest timestamp in the topic; 0 when empty. */
  newestMs: number
}

export type ReadOptions = {
  /** First offset wanted; below the kept range it starts at the oldest kept record. */
  from: number
  /** At most this many records in one batch. */
  maxRecords?: number
  /** At most about this many bytes in one batch (at least one record is given). */
  maxBytes?: number
}

export interface EventLog {
  /** Appends all entries in order, atomically where the log can; resolves with the first offset once they are durable. */
  append(topic: string, entries: readonly LogEntry[]): Promise<number>
  /** One batch from an offset; empty at the end of the topic. */
  read(topic: string, options: ReadOptions): Promise<LogRecord[]>
  /**
   * Batches from an offset for ever: waits at the end for new records; ends when the signal aborts. Fails with
   * `offset_lost` where the topic ends before that offset.
   */
  follow(topic: string, options: ReadOptions, signal: AbortSignal): AsyncGenerator<LogRecord[]>
  /** The first offset whose timestamp is at or after `timestampMs`; the topic's end when there is none. */
  offsetAt(topic: string, timestampMs: number): Promise<number>
  /** A group's committed position: the offset it will read next. */
  commit(group: string, topic: string, nextOffset: number): Promise<void>
  committed(group: string, topic: string): Promise<number | undefined>
  /** Forgets records below an offset. */
  truncate(topic: string, beforeOffset: number): Promise<void>
  /** Forgets records whose timestamp is more than `keepMs` older than the topic's newest (chain time, not wall clock). */
  retain(topic: string, keepMs: number): Promise<void>
  info(topic: string): Promise<TopicInfo>
  /** Every topic; cheap enough to ask each second. */
  topics(): Promise<TopicRange[]>
  /** Largest value the log takes in one record; larger records are split into parts (codec.ts). */
  readonly maxValueBytes: number
  close(): Promise<void>
}

/** Aggregators share the chains as this group; its position is a hint for people, the checkpoint is the truth. */
export const AGGREGATE_GROUP = 'aggregate'
/** The group under which serve says how far it has read a chain's updates: what it has not read is not forgotten. */
export const SERVE_GROUP = 'serve'

const BLOCKS = 'dex.blocks.'
/** A chain's blocks; each generation of its history has a topic of its own. */
export const blocksTopic = (chain: string, generation = 1): string =>
  generation === 1 ? `${BLOCKS}${chain}` : `${BLOCKS}${chain}.g${generation}`

/** Whose blocks a topic holds; undefined where it holds something else. */
export function blocksOf(topic: string): { chain: string; generation: number } | undefined {
  // Chains' names hold no dot.
  const [, chain, generation = '1'] = /^dex\.blocks\.([^.]+)(?:\.g(\d+))?$/.exec(topic) ?? []
  return chain === undefined ? undefined : { chain, generation: Number(generation) }
}
export const updatesTopic = (chain: string): string => `dex.updates.${chain}`
/** Trades alone, one record each; only where the configuration asks for it. */
export const tradesTopic = (chain: string): string => `dex.trades.${chain}`
export const deadTopic = (chain: string): string => `dex.dead.${chain}`
export const stateTopic = (chain: string): string => `dex.state.${chain}`
