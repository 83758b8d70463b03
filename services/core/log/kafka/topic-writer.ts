/**
 * Appends one batch at a time per topic, each with a producer id and a sequence number. If the answer to a batch is lost, the
 * writer looks for it at the topic's end. If it is not there, it is sent again with the same numbers, so that the broker drops
 * a late duplicate. The numbers alone are not enough: a restarted broker forgets producers whose last record is a day old, and
 * our records carry chain time. However long the broker was unreachable, a batch is stored exactly once.
 */
import type { LogEntry } from '../port.js'
import { type Connections, leaderOf } from './connections.js'
import { ensureTopic } from './create-topic.js'
import type { Broker, Cluster, OutMessage } from './internals.js'
import { noLeaderYet, producerForgotten, typeOf } from './kafka-faults.js'
import { endsOf, fetchRecords } from './topic-reader.js'

export type Writer = {
  /** The offset of the first entry. */
  append(topic: string, entries: readonly LogEntry[]): Promise<number>
}

export type WriterDeps = {
  connections: Connections
  fullName: (topic: string) => string
  copies: number | undefined
}

export type Producer = { id: string; epoch: number; sequence: number }
/** A topic's appends, one after another, with its own producer id. */
type Lane = {
  topic: string
  full: string
  last: Promise<unknown>
  isCreated: boolean
  producer: Producer | undefined
  /** Where the last append ended. */
  end: number | undefined
}

/** Below the broker's default limit of 1 MiB per message set; a single record may fill a batch. */
const BATCH_BYTES = 1_000_000
const RECORD_OVERHEAD_BYTES = 32
const BATCH_RECORDS = 10_000
const PRODUCE_TIMEOUT_MS = 10_000
const UNUSED_TRANSACTION_TIMEOUT_MS = 60_000
const SEQUENCE_LIMIT = 2 ** 31
/** Answers of a broker that no longer knows the producer or its sequence. */
const FORGOTTEN = new Set([
  ...['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'DUPLICATE_SEQUENCE_NUMBER', 'INVALID_PRODUCER_EPOCH'],
  'INVALID_PRODUCER_ID_MAPPING',
])

export function createWriter({ connections, fullName, copies }: WriterDeps): Writer {
  const lanes = new Map<string, Lane>()

  async function leaderFor(cluster: Cluster, lane: Lane): Promise<Broker> {
    if (!lane.isCreated) await ensureTopic(cluster, lane.topic, lane.full, copies)
    const leader = await leaderOf(cluster, lane.full)
    lane.isCreated = leader !== undefined
    if (leader === undefined) throw noLeaderYet(lane.topic)
    return leader
  }

  /** One attempt; `isSent`: an earlier one may have been stored. */
  async function attempt(cluster: Cluster, lane: Lane, messages: readonly OutMessage[], isSent: boolean) {
    const leader = await leaderFor(cluster, lane)
    lane.end ??= (await endsOf(cluster, lane.full)).end
    const found = isSent ? await findBatch(cluster, lane.full, lane.end, messages) : undefined
    lane.producer ??= await newProducer(cluster)
    const { producer } = lane
    const offset = found ?? (await produce(leader, lane.full, producer, messages))
    producer.sequence = (producer.sequence + messages.length) % SEQUENCE_LIMIT
    lane.end = offset + messages.length
    return offset
  }

  async function appendBatch(lane: Lane, messages: readonly OutMessage[]): Promise<number> {
    let attempts = 0
    return connections.run(`appending to ${lane.topic}`, async (cluster) => {
      try {
        return await attempt(cluster, lane, messages, attempts++ > 0)
      } catch (error) {
        if (!FORGOTTEN.has(typeOf(error) ?? '')) throw error
        lane.producer = undefined
        throw producerForgotten(lane.topic, error)
      }
    })
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
      ...{ isCreated: false, producer: undefined, end: undefined },
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

/** The offset of the first message. */
export async function produce(
  leader: Broker,
  full: string,
  { id, epoch, sequence }: Producer,
  messages: readonly OutMessage[],
  transactionalId?: string,
): Promise<number> {
  const { topics } = await leader.produce({
    topicData: [{ topic: full, partitions: [{ partition: 0, firstSequence: sequence, messages }] }],
    producerId: id,
    producerEpoch: epoch,
    acks: -1,
    timeout: PRODUCE_TIMEOUT_MS,
    ...(transactionalId === undefined ? {} : { transactionalId }),
  })
  return Number(topics[0]?.partitions[0]?.baseOffset)
}

/** Where the batch begins, if it is in the topic at or after an offset. A batch is stored whole or not at all. */
async function findBatch(
  cluster: Cluster,
  full: string,
  from: number,
  [first]: readonly OutMessage[],
): Promise<number | undefined> {
  for (let at = from; ; ) {
    const fetched = await fetchRecords(cluster, full, { from: at, waitMs: 0 })
    if (fetched === undefined || fetched.next === at) return undefined
    const found = fetched.records.find(
      ({ key, value }) => key === first?.key && Buffer.compare(value, first.value ?? Buffer.alloc(0)) === 0,
    )
    if (found !== undefined) return found.offset
    at = fetched.next
  }
}

async function newProducer(cluster: Cluster): Promise<Producer> {
  const broker = await cluster.findControllerBroker()
  const { producerId, producerEpoch } = await broker.initProducerId({
    transactionTimeout: UNUSED_TRANSACTION_TIMEOUT_MS,
  })
  return { id: producerId, epoch: producerEpoch, sequence: 0 }
}

/** kafkajs sorts timestamps as text and treats 0 as missing: with a fixed width, text sorts as numbers and "0…0" is a value. */
export const timestampText = (timestampMs: number): string => String(Math.floor(timestampMs)).padStart(16, '0')

function messageOf({ key, value, timestampMs }: LogEntry): OutMessage {
  return { key, value: Buffer.from(value), timestamp: timestampText(timestampMs) }
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
