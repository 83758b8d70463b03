/** Reads a topic from any offset, and its ends, its newest time and its size. */
import { createRequire } from 'node:module'
import type { LogRecord, ReadOptions } from '../port.js'
import { leaderOf } from './connections.js'
import { type Broker, type Cluster, committedMessages, type WireMessage } from './internals.js'
import { typeOf } from './kafka-faults.js'

export type Fetched = {
  records: LogRecord[]
  /** Where to continue: after the last record, markers included. */
  next: number
  /** The topic's end, if it is before the requested offset. */
  lostEnd?: number
}

export type FetchOptions = ReadOptions & {
  /** How long the broker may wait for a first record. */
  waitMs: number
  onlyCommitted?: boolean
}

const DEFAULT_RECORDS = 10_000
const DEFAULT_BYTES = 4 * 1024 * 1024
/** A broker returns whole message sets: smaller fetches would return the same set again and again. */
const LEAST_BYTES = 1024 * 1024
const EARLIEST = '-2'
const LATEST = '-1'

/** All records of a fetch; undefined if the topic does not exist. */
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

/** Removes and returns the first records within the limits, at least one. */
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

/** Like `fetchRecords`, with the null values of compacted topics. */
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

/** Zeros if the topic does not exist. */
export async function endsOf(cluster: Cluster, full: string): Promise<Ends> {
  return (await knownEnds(cluster, full)) ?? { start: 0, end: 0 }
}

/** Undefined if the topic does not exist or has no leader now. */
async function knownEnds(cluster: Cluster, full: string): Promise<Ends | undefined> {
  const [start, end] = await Promise.all([offsetFor(cluster, full, EARLIEST), offsetFor(cluster, full, LATEST)])
  return start === undefined || end === undefined ? undefined : { start, end }
}

/** Ends of many topics, with two requests per leader. */
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

/** The first offset at or after a timestamp; undefined if there is none. */
export async function offsetFor(cluster: Cluster, full: string, timestamp: string): Promise<number | undefined> {
  const leader = await leaderOf(cluster, full)
  if (leader === undefined) return undefined
  return (await offsetsOn(leader, [full], timestamp)).get(full)
}

/** The same for several topics of one leader. */
async function offsetsOn(leader: Broker, topics: readonly string[], timestamp: string): Promise<Map<string, number>> {
  const { responses } = await leader.listOffsets({
    replicaId: -1,
    isolationLevel: 0,
    topics: topics.map((topic) => ({ topic, partitions: [{ partition: 0, timestamp }] })),
  })
  const offsets = responses.map(({ topic, partitions }) => [topic, Number(partitions[0]?.offset ?? -1)] as const)
  return new Map(offsets.filter(([, offset]) => offset >= 0))
}

/**
 * A topic's highest timestamp. `hasFrom(t)`: whether any record has timestamp t or later. `lastMs`: the last record's, usually the
 * highest.
 */
export async function highestTimestamp(
  lastMs: number,
  hasFrom: (timestampMs: number) => Promise<boolean>,
): Promise<number> {
  let known = lastMs
  let beyond = known + 1
  for (let step = 1; await hasFrom(beyond); step *= 2) {
    known = beyond
    beyond = known + step * 2
  }
  while (beyond - known > 1) {
    const middle = Math.floor((known + beyond) / 2)
    if (await hasFrom(middle)) known = middle
    else beyond = middle
  }
  return known
}

type Encoder = {
  writeString(text: string): Encoder
  writeArray(items: readonly unknown[]): Encoder
}
type Decoder = {
  readInt16(): number
  readInt32(): number
  readInt64(): { toString(): string }
  readString(): string
  readBoolean(): boolean
  readArray<T>(read: (decoder: Decoder) => T): T[]
}
type Sender = { connectionPool: { send(request: unknown): Promise<number[]> } }

const require = createRequire(import.meta.url)
const EncoderOf = require('kafkajs/src/protocol/encoder') as new () => Encoder
const DecoderOf = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder

/** https://kafka.apache.org/protocol#The_Messages_DescribeLogDirs */
const DESCRIBE_LOG_DIRS = { apiKey: 35, apiVersion: 1, apiName: 'DescribeLogDirs' }

/** How many bytes a topic takes on its leader's disks: a request kafkajs does not have. */
export async function bytesOf(cluster: Cluster, full: string): Promise<number> {
  const leader = await leaderOf(cluster, full)
  if (leader === undefined) return 0
  const topics = [new EncoderOf().writeString(full).writeArray([0])]
  const sizes = await (leader as unknown as Sender).connectionPool.send({
    request: { ...DESCRIBE_LOG_DIRS, encode: async () => new EncoderOf().writeArray(topics) },
    response: { decode: async (bytes: Buffer) => sizesOf(new DecoderOf(bytes)), parse: async (read: number[]) => read },
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

function sizesOf(decoder: Decoder): number[] {
  decoder.readInt32()
  return decoder.readArray(readDirectory).flat(2)
}

function readDirectory(decoder: Decoder): number[][] {
  decoder.readInt16()
  decoder.readString()
  return decoder.readArray((topic) => {
    topic.readString()
    return topic.readArray(readPartition)
  })
}

function readPartition(decoder: Decoder): number {
  decoder.readInt32()
  const size = Number(decoder.readInt64().toString())
  decoder.readInt64()
  decoder.readBoolean()
  return size
}
