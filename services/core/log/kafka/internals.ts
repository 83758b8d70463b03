/**
 * kafkajs below its public classes: a cluster's connections and the protocol's requests. The public consumer reads only through
 * groups, and the public producer gives up its idempotent sequence after some retries. A log that is read from any offset and
 * waits for an unreachable broker needs the requests themselves. The version is pinned.
 */

import { createRequire } from 'node:module'
import type { ConnectionOptions } from 'node:tls'
import { Kafka, type KafkaConfig, logLevel } from 'kafkajs'

export type KafkaOptions = {
  brokers: readonly string[]
  clientId: string
  /** Prefix of every topic, group and transactional id: several installations may share a cluster. */
  prefix: string
  ssl: boolean | ConnectionOptions
  sasl?: KafkaConfig['sasl']
  /** Copies of each topic; undefined: three if the cluster has as many brokers, else one. */
  replicationFactor?: number
  requestTimeoutMs: number
  /** How long a call waits for an unreachable broker: without end in a service, a few seconds in a command. */
  patienceMs: number
  /** Called when the broker becomes unreachable, and when it is reachable again. */
  onUnreachable: (reason: string) => void
  onReachable: () => void
}

export type PartitionMetadata = { partitionId: number; leader: number }
export type Metadata = {
  brokers: readonly { nodeId: number }[]
  clusterId: string
  topicMetadata: readonly { topic: string; isInternal: boolean; partitionMetadata: readonly PartitionMetadata[] }[]
}

export type WireMessage = {
  offset: string
  timestamp: string
  key: Buffer | null
  value: Buffer | null
  isControlRecord: boolean
}

export type FetchedPartition = {
  abortedTransactions: readonly unknown[]
  messages: WireMessage[]
}

export type OutMessage = { key: string; value: Buffer | null; timestamp: string }

type Topics<Partition> = readonly { topic: string; partitions: readonly ({ partition: number } & Partition)[] }[]

export type Broker = {
  metadata(topics: readonly string[]): Promise<Metadata>
  produce(request: {
    topicData: Topics<{ firstSequence: number; messages: readonly OutMessage[] }>
    producerId: string
    producerEpoch: number
    transactionalId?: string
    acks: -1
    timeout: number
  }): Promise<{ topics: readonly { partitions: readonly { baseOffset: string }[] }[] }>
  fetch(request: {
    replicaId: -1
    isolationLevel: 0 | 1
    maxWaitTime: number
    minBytes: number
    maxBytes: number
    topics: Topics<{ fetchOffset: string; maxBytes: number }>
  }): Promise<{ responses: readonly { partitions: readonly FetchedPartition[] }[] }>
  listOffsets(request: {
    replicaId: -1
    isolationLevel: 0 | 1
    topics: Topics<{ timestamp: string }>
  }): Promise<{ responses: readonly { topic: string; partitions: readonly { offset: string }[] }[] }>
  createTopics(request: {
    topics: readonly {
      topic: string
      numPartitions: number
      replicationFactor: number
      configEntries: readonly { name: string; value: string }[]
    }[]
  }): Promise<unknown>
  deleteTopics(request: { topics: readonly string[] }): Promise<unknown>
  deleteRecords(request: { topics: Topics<{ offset: string }> }): Promise<unknown>
  initProducerId(request: {
    transactionalId?: string
    transactionTimeout: number
  }): Promise<{ producerId: string; producerEpoch: number }>
  addPartitionsToTxn(request: {
    transactionalId: string
    producerId: string
    producerEpoch: number
    topics: readonly { topic: string; partitions: readonly number[] }[]
  }): Promise<unknown>
  endTxn(request: {
    transactionalId: string
    producerId: string
    producerEpoch: number
    transactionResult: boolean
  }): Promise<unknown>
  offsetCommit(request: {
    groupId: string
    groupGenerationId: number
    memberId: string
    topics: Topics<{ offset: string }>
  }): Promise<unknown>
  offsetFetch(request: {
    groupId: string
    topics: Topics<object>
  }): Promise<{ responses: readonly { partitions: readonly { offset: string }[] }[] }>
  joinGroup(request: {
    groupId: string
    sessionTimeout: number
    rebalanceTimeout: number
    memberId: string
    groupProtocols: readonly { name: string; metadata: Buffer }[]
  }): Promise<{
    generationId: number
    leaderId: string
    memberId: string
    members: readonly { memberId: string; memberMetadata: Buffer }[]
  }>
  syncGroup(request: {
    groupId: string
    generationId: number
    memberId: string
    groupAssignment: readonly { memberId: string; memberAssignment: Buffer }[]
  }): Promise<{ memberAssignment: Buffer }>
  heartbeat(request: { groupId: string; groupGenerationId: number; memberId: string }): Promise<unknown>
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>
}

export type Cluster = {
  connect(): Promise<void>
  disconnect(): Promise<void>
  refreshMetadata(): Promise<void>
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>
  findBroker(node: { nodeId: string | number }): Promise<Broker>
  findControllerBroker(): Promise<Broker>
  findGroupCoordinator(group: { groupId: string; coordinatorType?: 0 | 1 }): Promise<Broker>
  brokerPool: { metadata: Metadata | null }
}

type ClusterOptions = { allowAutoTopicCreation: false; metadataMaxAge: number }
type RequestQueue = {
  pending: unknown[]
  throttledUntil: number
  throttleCheckTimeoutId: NodeJS.Timeout | null
  checkPendingRequests(): void
  requestTimeout: number
  requestTimeoutIntervalId: NodeJS.Timeout
  inflight: ReadonlyMap<number, { sentAt: number; requestTimeout: number; timeoutRequest(): void }>
  isConnected(): boolean
  destroy(): void
}
type Batch = { messages: WireMessage[] }

const require = createRequire(import.meta.url)
const BatchOf = require('kafkajs/src/consumer/batch') as new (
  topic: string,
  offset: string,
  data: FetchedPartition,
) => Batch
export const { MemberAssignment, MemberMetadata } = require('kafkajs/src/consumer/assignerProtocol') as {
  MemberMetadata: {
    encode(data: { version: number; topics: readonly string[]; userData: Buffer }): Buffer
    decode(bytes: Buffer): { topics: string[]; userData: Buffer }
  }
  MemberAssignment: {
    encode(data: { version: number; assignment: Record<string, number[]>; userData: Buffer }): Buffer
    decode(bytes: Buffer): { assignment: Record<string, number[]> } | null
  }
}

const CHECK_PENDING_MS = 10
/** Checks of a request before it counts as lost. */
const TIMEOUT_CHECKS = 10
const METADATA_MAX_AGE_MS = 300_000
const SILENT = () => () => {}

/**
 * kafkajs wakes every connection each millisecond (its issue 1751), and ten times a second to find lost requests. Checking only
 * queues that are not empty, and time-outs more seldom, lets an idle process sleep.
 */
function quietQueues(): void {
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: Record<string, unknown> }
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return
    const delayMs = Math.max(this.throttledUntil - Date.now(), CHECK_PENDING_MS)
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null
      this.checkPendingRequests()
    }, delayMs)
  }
  prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue): void {
    this.destroy()
    this.requestTimeoutIntervalId = setInterval(() => {
      const nowMs = Date.now()
      for (const request of this.inflight.values())
        if (nowMs - request.sentAt > request.requestTimeout) request.timeoutRequest()
      if (!this.isConnected()) this.destroy()
    }, this.requestTimeout / TIMEOUT_CHECKS)
  }
}

/** Each call opens new connections to the brokers: a cluster, as kafkajs calls it. */
export function clusterFactory({ brokers, clientId, ssl, sasl, requestTimeoutMs }: KafkaOptions): () => Cluster {
  quietQueues()
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: 3000,
    requestTimeout: requestTimeoutMs,
    // This log reports and retries failures itself, on new connections.
    retry: { retries: 1, initialRetryTime: 50, maxRetryTime: 200 },
    logLevel: logLevel.NOTHING,
    logCreator: SILENT,
    ...(ssl === false ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
  })
  const create = Object.getOwnPropertySymbols(kafka).find(({ description }) => description?.endsWith(':createCluster'))
  const make = (kafka as unknown as Record<symbol, (options: ClusterOptions) => Cluster>)[create ?? Symbol.iterator]
  if (make === undefined) throw new Error('unsupported kafkajs version: the log needs 2.2.4')
  return () => make({ allowAutoTopicCreation: false, metadataMaxAge: METADATA_MAX_AGE_MS })
}

/** The records of a fetch from its offset on, without markers and records of aborted transactions. */
export function committedMessages(topic: string, from: number, partition: FetchedPartition): WireMessage[] {
  return new BatchOf(topic, String(from), partition).messages
}
