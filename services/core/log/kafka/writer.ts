/**
 * Appends: one batch at a time a topic, each with the producer's number and its place in the topic's sequence. A batch whose
 * answer was lost is sent again under the same numbers, and the broker drops it where it has it: however long the broker is
 * away, a batch is in the topic once.
 */
import type { LogEntry } from '../port.js'
import { noLeaderYet, typeOf } from './faults.js'
import type { Broker, Cluster, OutMessage } from './internals.js'
import { ensureTopic } from './topics.js'
import { leaderOf, type Wire } from './wire.js'

export type Writer = {
  /** The offset of the first entry. */
  append(topic: string, entries: readonly LogEntry[]): Promise<number>
}

export type WriterDeps = {
  wire: Wire
  fullName: (topic: string) => string
  copies: number | undefined
  /** Offset of the first record at or after `from` that is this one; asked where the broker forgot what it was sent. */
  findRecord: (topic: string, from: number, key: string, value: Uint8Array) => Promise<number | undefined>
}

type Producer = { id: string; epoch: number; sequence: number }
/** A topic's appends, one after another, under a producer's number of its own. */
type Lane = {
  topic: string
  full: string
  last: Promise<unknown>
  isMade: boolean
  producer: Producer | undefined
  /** Where the last append ended. */
  end: number | undefined
}

/** A batch must be below the broker's usual limit of 1 MiB a message set; a single record may fill it. */
const BATCH_BYTES = 1_000_000
const RECORD_OVERHEAD_BYTES = 32
const BATCH_RECORDS = 10_000
const PRODUCE_TIMEOUT_MS = 10_000
const UNUSED_TRANSACTION_TIMEOUT_MS = 60_000
const SEQUENCE_LIMIT = 2 ** 31
/** Answers of a broker that no longer knows the producer, or not at this place. */
const FORGOTTEN = new Set([
  ...['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'DUPLICATE_SEQUENCE_NUMBER', 'INVALID_PRODUCER_EPOCH'],
  'INVALID_PRODUCER_ID_MAPPING',
])

export function createWriter({ wire, fullName, copies, findRecord }: WriterDeps): Writer {
  const lanes = new Map<string, Lane>()

  async function leaderFor(cluster: Cluster, lane: Lane): Promise<Broker> {
    if (!lane.isMade) await ensureTopic(cluster, lane.topic, lane.full, copies)
    const leader = await leaderOf(cluster, lane.full)
    lane.isMade = leader !== undefined
    if (leader === undefined) throw noLeaderYet(lane.topic)
    return leader
  }

  /** The batch's first offset; undefined where the broker forgot the producer, and may have the batch or not. */
  async function produce(cluster: Cluster, lane: Lane, messages: readonly OutMessage[]): Promise<number | undefined> {
    const leader = await leaderFor(cluster, lane)
    lane.producer ??= await newProducer(cluster)
    const { id, epoch, sequence } = lane.producer
    try {
      const { topics } = await leader.produce({
        topicData: [{ topic: lane.full, partitions: [{ partition: 0, firstSequence: sequence, messages }] }],
        producerId: id,
        producerEpoch: epoch,
        acks: -1,
        timeout: PRODUCE_TIMEOUT_MS,
      })
      lane.producer.sequence = (sequence + messages.length) % SEQUENCE_LIMIT
      return Number(topics[0]?.partitions[0]?.baseOffset)
    } catch (error) {
      if (!FORGOTTEN.has(typeOf(error) ?? '')) throw error
      lane.producer = undefined
      return undefined
    }
  }

  async function appendBatch(lane: Lane, messages: readonly OutMessage[]): Promise<number> {
    for (;;) {
      const offset =
        (await wire.run(`appending to ${lane.topic}`, (cluster) => produce(cluster, lane, messages))) ??
        (await findBatch(lane, messages))
      if (offset === undefined) continue
      lane.end = offset + messages.length
      return offset
    }
  }

  async function findBatch({ topic, end }: Lane, [first]: readonly OutMessage[]): Promise<number | undefined> {
    if (end === undefined || first?.value == null) return undefined
    return findRecord(topic, end, first.key, first.value)
  }

  async function appendAll(lane: Lane, messages: readonly OutMessage[]): Promise<number> {
    let first: number | undefined
    for (const batch of batchesOf(messages)) {
      const offset = await appendBatch(lane, batch)
      first ??= offset
    }
    return first ?? 0
  }

  function laneOf(topic: string): Lane {
    const known = lanes.get(topic)
    if (known !== undefined) return known
    const opened: Lane = {
      ...{ topic, full: fullName(topic), last: Promise.resolve() },
      ...{ isMade: false, producer: undefined, end: undefined },
    }
    lanes.set(topic, opened)
    return opened
  }

  return {
    append(topic, entries) {
      const lane = laneOf(topic)
      const messages = entries.map(messageOf)
      const appended = lane.last.then(() => appendAll(lane, messages))
      lane.last = appended.catch(() => {})
      return appended
    },
  }
}

async function newProducer(cluster: Cluster): Promise<Producer> {
  const broker = await cluster.findControllerBroker()
  const { producerId, producerEpoch } = await broker.initProducerId({
    transactionTimeout: UNUSED_TRANSACTION_TIMEOUT_MS,
  })
  return { id: producerId, epoch: producerEpoch, sequence: 0 }
}

/** kafkajs sorts timestamps as text and takes a 0 for none: of one width, text sorts as numbers and "0…0" is a value. */
const TIMESTAMP_WIDTH = 16

export function messageOf({ key, value, timestampMs }: LogEntry): OutMessage {
  const timestamp = String(Math.floor(timestampMs)).padStart(TIMESTAMP_WIDTH, '0')
  return { key, value: Buffer.from(value), timestamp }
}

export function* batchesOf(messages: readonly OutMessage[]): Generator<readonly OutMessage[]> {
  let first = 0
  let bytes = 0
  for (const [index, { key, value }] of messages.entries()) {
    const size = (value?.length ?? 0) + Buffer.byteLength(key) + RECORD_OVERHEAD_BYTES
    if (index > first && (bytes + size > BATCH_BYTES || index - first >= BATCH_RECORDS)) {
      yield messages.slice(first, index)
      first = index
      bytes = 0
    }
    bytes += size
  }
  if (first < messages.length) yield messages.slice(first)
}
