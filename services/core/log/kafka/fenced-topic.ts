/**
 * A compacted topic with one writer at a time. A claim takes over its transactional id; from then on the broker refuses all
 * earlier claimants, so a process that was only paused cannot overwrite its successor.
 */
import { DextapeError } from '../../domain/errors.js'
import { leaderOf } from './connections.js'
import { ensureTopic } from './create-topic.js'
import type { Broker, Cluster, OutMessage } from './internals.js'
import { noLeaderYet, typeOf } from './kafka-faults.js'
import type { KafkaLog } from './kafka-log.js'
import { endsOf, fetchMessages } from './topic-reader.js'
import { batchesOf, type Producer, produce, timestampText } from './topic-writer.js'

/** A null value deletes the key. */
export type KeyedValue = { key: string; value: Uint8Array | null }

export type FencedTopic = {
  /** Takes over the topic and passes on everything in it, oldest first. */
  claim(onValue: (entry: KeyedValue) => void): Promise<void>
  /** Atomic. Fails with `fenced` once another process has claimed the topic. */
  commit(entries: readonly KeyedValue[]): Promise<void>
  /** Deletes the topic, once it is claimed: its earlier writer would wait for it without end. */
  drop(): Promise<void>
  close(): Promise<void>
}

/** The next claim ends a transaction left open by a crash; this is for when there is none. */
const TRANSACTION_TIMEOUT_MS = 60_000
const TRANSACTION_COORDINATOR = 1
const LOAD_WAIT_MS = 200
/** A claim raises the transactional id's epoch: a writer with a lower epoch has been replaced. */
const FENCED = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED'])
/** The broker no longer knows this producer or its transaction. A new claim gets both. */
const TRANSACTION_LOST = new Set([
  ...['INVALID_PRODUCER_ID_MAPPING', 'INVALID_TXN_STATE', 'UNKNOWN_PRODUCER_ID', 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
  ...['TRANSACTION_COORDINATOR_FENCED', 'TRANSACTION_ABORTABLE'],
])

export function openFencedTopic(log: KafkaLog, topic: string): FencedTopic {
  const connections = log.openConnections()
  const full = log.fullName(topic)
  const transactionalId = log.fullName(`dextape.${topic}`)
  let producer: Producer | undefined
  /** Why the producer was closed. */
  let failure: unknown

  /** Each step can be retried: the broker recognises it by producer id and sequence number. */
  async function step<T>(doing: string, send: (coordinator: Broker, leader: Broker) => Promise<T>): Promise<T> {
    try {
      return await connections.run(`${doing} ${topic}`, async (cluster) => {
        const coordinator = await coordinatorOn(cluster)
        const leader = await leaderOf(cluster, full)
        if (leader === undefined) {
          await failIfFenced(coordinator)
          throw noLeaderYet(topic)
        }
        return send(coordinator, leader)
      })
    } catch (error) {
      throw transactionFault(topic, error)
    }
  }

  /** A topic that its new owner has deleted never has a leader again. A transaction this ends is lost, and claimed anew. */
  async function failIfFenced(coordinator: Broker): Promise<void> {
    if (producer === undefined) return
    const names = { transactionalId, producerId: producer.id, producerEpoch: producer.epoch }
    try {
      await coordinator.endTxn({ ...names, transactionResult: false })
    } catch (error) {
      if (FENCED.has(typeOf(error) ?? '')) throw error
    }
  }

  const coordinatorOn = (cluster: Cluster) =>
    cluster.findGroupCoordinator({ groupId: transactionalId, coordinatorType: TRANSACTION_COORDINATOR })

  async function load(onValue: (entry: KeyedValue) => void): Promise<void> {
    const { start, end } = await connections.run(`the ends of ${topic}`, (cluster) => endsOf(cluster, full))
    let from = start
    while (from < end) {
      const at = from
      const fetched = await connections.run(`loading ${topic}`, (cluster) =>
        fetchMessages(cluster, full, { from: at, waitMs: LOAD_WAIT_MS, onlyCommitted: true }),
      )
      for (const { key, value } of fetched?.taken ?? []) onValue({ key: key?.toString('utf8') ?? '', value })
      from = fetched?.next ?? end
    }
  }

  return {
    async claim(onValue) {
      const claimed = await connections.run(`claiming ${topic}`, async (cluster) => {
        await ensureTopic(cluster, topic, full, log.options.replicationFactor)
        const coordinator = await coordinatorOn(cluster)
        return coordinator.initProducerId({ transactionalId, transactionTimeout: TRANSACTION_TIMEOUT_MS })
      })
      producer = { id: claimed.producerId, epoch: claimed.producerEpoch, sequence: 0 }
      await load(onValue)
    },

    async commit(entries) {
      if (producer === undefined) throw failure ?? new Error(`${topic} was not claimed before a commit`)
      const owner = producer
      const names = { transactionalId, producerId: owner.id, producerEpoch: owner.epoch }
      try {
        await step('opening a transaction on', (coordinator) =>
          coordinator.addPartitionsToTxn({ ...names, topics: [{ topic: full, partitions: [0] }] }),
        )
        for (const messages of batchesOf(entries.map(messageOf))) {
          await step('writing to', (_, leader) => produce(leader, full, owner, messages, transactionalId))
          owner.sequence += messages.length
        }
        await step('closing a transaction on', (coordinator) =>
          coordinator.endTxn({ ...names, transactionResult: true }),
        )
      } catch (error) {
        producer = undefined
        failure = error
        throw error
      }
    },

    drop: () =>
      connections.run(`deleting ${topic}`, async (cluster) => {
        if ((await leaderOf(cluster, full)) === undefined) return
        const controller = await cluster.findControllerBroker()
        try {
          await controller.deleteTopics({ topics: [full] })
        } catch (error) {
          if (typeOf(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error
        }
      }),

    close: () => connections.close(),
  }
}

/** Wall-clock time: a restarted broker forgets producers whose last record is old. */
function messageOf({ key, value }: KeyedValue): OutMessage {
  return { key, value: value === null ? null : Buffer.from(value), timestamp: timestampText(Date.now()) }
}

/** Errors of a transaction step that concern its owner, as our own; others unchanged. */
export function transactionFault(topic: string, cause: unknown): unknown {
  const type = typeOf(cause) ?? ''
  if (FENCED.has(type))
    return new DextapeError({
      code: 'fenced',
      what: 'Another process has taken over this topic',
      where: { topic },
      got: type,
      fix: 'This process stops writing to it; nothing is lost.',
      cause,
    })
  if (TRANSACTION_LOST.has(type))
    return new DextapeError({
      code: 'transaction_lost',
      what: 'Kafka no longer knows this transaction',
      where: { topic },
      got: type,
      retry: true,
      fix: 'The topic is claimed again, and work resumes from its last commit.',
      cause,
    })
  return cause
}
