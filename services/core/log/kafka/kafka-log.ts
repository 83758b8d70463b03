/** The log on Kafka: a topic is one partition, a group's position its committed offset. */
import { setTimeout as delay } from 'node:timers/promises'
import { assertEntries, assertName, assertOffset, offsetLost } from '../assertions.js'
import type { EventLog, LogRecord, ReadOptions, TopicInfo } from '../port.js'
import { type Connections, createBrokerReachability, createConnections, leaderOf } from './connections.js'
import { ensureTopic } from './create-topic.js'
import { type Cluster, clusterFactory, type KafkaOptions } from './internals.js'
import { closedFault, typeOf } from './kafka-faults.js'
import { bytesOf, endsOf, endsOfAll, fetchRecords, highestTimestamp, offsetFor, takeBatch } from './topic-reader.js'
import { createWriter } from './topic-writer.js'

/** The same as the embedded log's, so that both split the same records into the same parts. */
const MAX_VALUE_BYTES = 1_000_000
/** A fetch without records returns after this long, well before its time-out; a new record ends it at once. */
const LONG_POLL_MS = 5000
/** How often to look for a topic that does not exist yet: soon at first, since it may never be created. */
const LOOK_AGAIN_MS = { first: 100, longest: 1000 }
/** A cluster may also have topics of others. */
const OURS = 'dex.'
const NO_MEMBER: Member = { groupGenerationId: -1, memberId: '' }
/** The group rebalances, or did without this member: the commit is skipped, since the checkpoint is authoritative. */
const NOT_OURS = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID'])

export type KafkaLog = EventLog & {
  /** Separate connections for one purpose, closed with the log. */
  openConnections(): Connections
  fullName(name: string): string
  topicNames(): Promise<string[]>
  /** This process's membership by group: a group with members accepts commits only from them. */
  readonly memberships: Map<string, Member>
  readonly options: KafkaOptions
}

export type Member = { memberId: string; groupGenerationId: number }

export function openKafkaLog(options: KafkaOptions): KafkaLog {
  const makeCluster = clusterFactory(options)
  const reachability = createBrokerReachability(options.onUnreachable, options.onReachable)
  const allConnections = new Set<Connections>()
  const memberships = new Map<string, Member>()
  let isClosed = false
  const fullName = (name: string): string => `${options.prefix}${name}`
  const longPollMs = Math.min(LONG_POLL_MS, options.requestTimeoutMs / 2)

  function openConnections(): Connections {
    const connections = createConnections({ makeCluster, reachability, patienceMs: options.patienceMs })
    allConnections.add(connections)
    return connections
  }

  /** Separate from the writer's: a slow answer must not delay an append. */
  const queries = openConnections()
  const writer = createWriter({ connections: openConnections(), fullName, copies: options.replicationFactor })

  function assertOpen(): void {
    if (isClosed) throw closedFault('calling it')
  }

  function ask<T>(doing: string, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    assertOpen()
    return queries.run(doing, work)
  }

  async function read(topic: string, readOptions: ReadOptions): Promise<LogRecord[]> {
    assertName('topic', topic)
    assertOffset(topic, readOptions.from)
    let from = readOptions.from
    for (;;) {
      const fetched = await ask(`reading ${topic}`, (cluster) =>
        fetchRecords(cluster, fullName(topic), { ...readOptions, from, waitMs: 0 }),
      )
      if (fetched === undefined || fetched.records.length > 0 || fetched.next === from)
        return takeBatch(fetched?.records ?? [], readOptions)
      from = fetched.next
    }
  }

  const rangeOf = (topic: string) => ask(`the ends of ${topic}`, (cluster) => endsOf(cluster, fullName(topic)))

  async function offsetAt(topic: string, timestampMs: number): Promise<number> {
    assertName('topic', topic)
    const asked = String(Math.max(0, Math.ceil(timestampMs)))
    const found = await ask(`a time in ${topic}`, (cluster) => offsetFor(cluster, fullName(topic), asked))
    return found ?? (await rangeOf(topic)).end
  }

  async function newestMs(topic: string, end: number): Promise<number> {
    const [last] = await read(topic, { from: end - 1, maxRecords: 1 })
    return highestTimestamp(last?.timestampMs ?? 0, async (timestampMs) => {
      const asked = String(timestampMs)
      return (await ask(`a time in ${topic}`, (cluster) => offsetFor(cluster, fullName(topic), asked))) !== undefined
    })
  }

  async function info(topic: string): Promise<TopicInfo> {
    assertName('topic', topic)
    const { start, end } = await rangeOf(topic)
    if (start >= end) return { topic, start, end, bytes: 0, newestMs: 0 }
    const bytes = await ask(`the size of ${topic}`, (cluster) => bytesOf(cluster, fullName(topic)))
    return { topic, start, end, bytes, newestMs: await newestMs(topic, end) }
  }

  async function truncate(topic: string, beforeOffset: number): Promise<void> {
    assertName('topic', topic)
    assertOffset(topic, beforeOffset)
    const { start, end } = await rangeOf(topic)
    const offset = Math.min(beforeOffset, end)
    if (offset <= start) return
    await ask(`truncating ${topic}`, async (cluster) => {
      const leader = await leaderOf(cluster, fullName(topic))
      const partitions = [{ partition: 0, offset: String(offset) }]
      await leader?.deleteRecords({ topics: [{ topic: fullName(topic), partitions }] })
    })
  }

  async function namesOn(cluster: Cluster): Promise<string[]> {
    await cluster.refreshMetadata()
    return (cluster.brokerPool.metadata?.topicMetadata ?? [])
      .filter(({ topic }) => topic.startsWith(fullName(OURS)))
      .map(({ topic }) => topic.slice(options.prefix.length))
  }

  /** On its own connections: a waiting fetch would delay every other request on the same ones. */
  async function* follow(topic: string, readOptions: ReadOptions, signal: AbortSignal): AsyncGenerator<LogRecord[]> {
    assertName('topic', topic)
    assertOffset(topic, readOptions.from)
    assertOpen()
    const connections = openConnections()
    const stop = () => void connections.close()
    signal.addEventListener('abort', stop, { once: true })
    let { from } = readOptions
    let lookAgainMs = LOOK_AGAIN_MS.first
    try {
      while (!signal.aborted && !isClosed) {
        const at = from
        const fetched = await connections.run(`following ${topic}`, (cluster) =>
          fetchRecords(cluster, fullName(topic), { ...readOptions, from: at, waitMs: longPollMs }),
        )
        if (fetched === undefined) {
          await delay(lookAgainMs, undefined, { signal }).catch(() => {})
          lookAgainMs = Math.min(LOOK_AGAIN_MS.longest, 2 * lookAgainMs)
        }
        if (fetched?.lostEnd !== undefined) throw offsetLost(topic, at, fetched.lostEnd)
        const waiting = fetched?.records ?? []
        while (waiting.length > 0 && !signal.aborted) yield takeBatch(waiting, readOptions)
        from = fetched?.next ?? from
      }
    } catch (error) {
      if (!signal.aborted && !isClosed) throw error
    } finally {
      signal.removeEventListener('abort', stop)
      allConnections.delete(connections)
      await connections.close()
    }
  }

  return {
    maxValueBytes: MAX_VALUE_BYTES,
    options,
    memberships,
    openConnections,
    fullName,
    read,
    follow,
    offsetAt,
    truncate,
    info,

    async append(topic, entries) {
      assertOpen()
      assertName('topic', topic)
      assertEntries(topic, entries, MAX_VALUE_BYTES)
      return entries.length === 0 ? (await rangeOf(topic)).end : writer.append(topic, entries)
    },

    async commit(group, topic, nextOffset) {
      assertName('group', group)
      assertName('topic', topic)
      assertOffset(topic, nextOffset)
      await ask(`committing ${topic}`, async (cluster) => {
        await ensureTopic(cluster, topic, fullName(topic), options.replicationFactor)
        const coordinator = await cluster.findGroupCoordinator({ groupId: fullName(group) })
        const partitions = [{ partition: 0, offset: String(nextOffset) }]
        const member = memberships.get(group)
        const topics = [{ topic: fullName(topic), partitions }]
        try {
          await coordinator.offsetCommit({ ...(member ?? NO_MEMBER), groupId: fullName(group), topics })
        } catch (error) {
          if (member === undefined || !NOT_OURS.has(typeOf(error) ?? '')) throw error
        }
      })
    },

    async committed(group, topic) {
      assertName('group', group)
      assertName('topic', topic)
      return ask(`the position of ${group}`, async (cluster) => {
        const coordinator = await cluster.findGroupCoordinator({ groupId: fullName(group) })
        try {
          const { responses } = await coordinator.offsetFetch({
            groupId: fullName(group),
            topics: [{ topic: fullName(topic), partitions: [{ partition: 0 }] }],
          })
          const offset = Number(responses[0]?.partitions[0]?.offset ?? -1)
          return offset < 0 ? undefined : offset
        } catch (error) {
          if (typeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return undefined
          throw error
        }
      })
    },

    async retain(topic, keepMs) {
      const { end, newestMs: newest } = await info(topic)
      if (end > 0) await truncate(topic, await offsetAt(topic, newest - keepMs))
    },

    topicNames: () => ask('listing topics', namesOn),

    topics: () =>
      ask('listing topics', async (cluster) => {
        const names = await namesOn(cluster)
        const ends = await endsOfAll(cluster, names.map(fullName))
        return names.map((topic) => ({ topic, ...(ends.get(fullName(topic)) ?? { start: 0, end: 0 }) }))
      }),

    async close() {
      isClosed = true
      await Promise.all([...allConnections].map((connections) => connections.close()))
    },
  }
}
