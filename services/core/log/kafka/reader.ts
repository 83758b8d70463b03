/** Reads a topic from any offset. */
import type { LogRecord, ReadOptions } from '../port.js'
import { typeOf } from './faults.js'
import { type Broker, type Cluster, committedMessages, type WireMessage } from './internals.js'
import { leaderOf } from './wire.js'

export type Fetched = {
  records: LogRecord[]
  /** Where to read on: after the last record, markers included. */
  next: number
  /** The topic's end, where that lies before the offset asked for. */
  lostEnd?: number
}

export type FetchOptions = ReadOptions & {
  /** How long the broker may wait for a first record. */
  waitMs: number
  onlyCommitted?: boolean
}

const DEFAULT_RECORDS = 10_000
const DEFAULT_BYTES = 4 * 1024 * 1024
/** A broker gives whole message sets: asking for less than one only means to be given it again and again. */
const LEAST_BYTES = 1024 * 1024
const EARLIEST = '-2'
const LATEST = '-1'

/** All a fetch gave; undefined where there is no such topic. */
export async function fetchRecords(
  cluster: Cluster,
  full: string,
  options: FetchOptions,
): Promise<Fetched | undefined> {
  const { maxBytes = DEFAULT_BYTES } = options
  const fetched = await fetchMessages(cluster, full, { ...options, maxBytes: Math.max(maxBytes, LEAST_BYTES) })
  if (fetched === undefined) return undefined
  const { taken, ...rest } = fetched
  return { records: taken.map(recordOf), ...rest }
}

/** The first records within the limits, one at least; the rest stays in `records`. */
export function takeBatch(
  records: LogRecord[],
  { maxRecords = DEFAULT_RECORDS, maxBytes = DEFAULT_BYTES }: ReadOptions,
) {
  let bytes = 0
  let count = 0
  for (; count < Math.min(records.length, maxRecords); count++) {
    bytes += records[count]?.value.length ?? 0
    if (count > 0 && bytes > maxBytes) break
  }
  return records.splice(0, count)
}

export type FetchedMessages = Omit<Fetched, 'records'> & { taken: WireMessage[] }

/** The same with values that may be null, as compacted topics have them. */
export async function fetchMessages(
  cluster: Cluster,
  full: string,
  { from, maxBytes = DEFAULT_BYTES, waitMs, onlyCommitted = false }: FetchOptions,
): Promise<FetchedMessages | undefined> {
  const leader = await leaderOf(cluster, full)
  if (leader === undefined) return undefined
  try {
    const { responses } = await leader.fetch({
      replicaId: -1,
      isolationLevel: onlyCommitted ? 1 : 0,
      maxWaitTime: waitMs,
      minBytes: 1,
      maxBytes,
      topics: [{ topic: full, partitions: [{ partition: 0, fetchOffset: String(from), maxBytes }] }],
    })
    const partition = responses[0]?.partitions[0]
    if (partition === undefined) return { taken: [], next: from }
    const lastOffset = partition.messages.at(-1)?.offset
    return {
      taken: committedMessages(full, from, partition),
      next: lastOffset === undefined ? from : Math.max(from, Number(lastOffset) + 1),
    }
  } catch (error) {
    if (typeOf(error) !== 'OFFSET_OUT_OF_RANGE') throw error
    const { start, end } = (await knownEnds(cluster, full)) ?? { start: from, end: from }
    if (from < start) return fetchMessages(cluster, full, { from: start, maxBytes, waitMs, onlyCommitted })
    return { taken: [], next: from, ...(end < from ? { lostEnd: end } : {}) }
  }
}

function recordOf({ offset, key, value, timestamp }: WireMessage): LogRecord {
  return {
    offset: Number(offset),
    key: key === null ? '' : key.toString('utf8'),
    value: value ?? Buffer.alloc(0),
    timestampMs: Number(timestamp),
  }
}

export type Ends = { start: number; end: number }

/** Zeros where there is no such topic. */
export async function endsOf(cluster: Cluster, full: string): Promise<Ends> {
  return (await knownEnds(cluster, full)) ?? { start: 0, end: 0 }
}

/** Undefined where there is no such topic, or nobody leads it now. */
async function knownEnds(cluster: Cluster, full: string): Promise<Ends | undefined> {
  const [start, end] = await Promise.all([offsetFor(cluster, full, EARLIEST), offsetFor(cluster, full, LATEST)])
  return start === undefined || end === undefined ? undefined : { start, end }
}

/** The same of many topics, in two requests to each of their leaders. */
export async function endsOfAll(cluster: Cluster, topics: readonly string[]): Promise<Map<string, Ends>> {
  const byLeader = new Map<string, string[]>()
  for (const topic of topics)
    for (const node of Object.keys(cluster.findLeaderForPartitions(topic, [0])))
      byLeader.set(node, [...(byLeader.get(node) ?? []), topic])
  const ends = new Map<string, Ends>()
  for (const [nodeId, led] of byLeader) {
    const leader = await cluster.findBroker({ nodeId })
    const [starts, stops] = await Promise.all([EARLIEST, LATEST].map((asked) => offsetsOn(leader, led, asked)))
    for (const topic of led) ends.set(topic, { start: starts?.get(topic) ?? 0, end: stops?.get(topic) ?? 0 })
  }
  return ends
}

/** The first offset at or after a timestamp; undefined where there is none. */
export async function offsetFor(cluster: Cluster, full: string, timestamp: string): Promise<number | undefined> {
  const leader = await leaderOf(cluster, full)
  if (leader === undefined) return undefined
  return (await offsetsOn(leader, [full], timestamp)).get(full)
}

/** The same of several topics that one broker leads. */
async function offsetsOn(leader: Broker, topics: readonly string[], timestamp: string): Promise<Map<string, number>> {
  const { responses } = await leader.listOffsets({
    replicaId: -1,
    isolationLevel: 0,
    topics: topics.map((topic) => ({ topic, partitions: [{ partition: 0, timestamp }] })),
  })
  const offsets = responses.map(({ topic, partitions }) => [topic, Number(partitions[0]?.offset ?? -1)] as const)
  return new Map(offsets.filter(([, offset]) => offset >= 0))
}
