/** The log on Kafka: a topic is one partition, a group's position its committed offset. */
import { setTimeout as delay } from 'node:timers/promises'
import { assertEntries, assertName, assertOffset, offsetLost } from '../names.js'
import type { EventLog, LogRecord, ReadOptions, TopicInfo } from '../port.js'
import { closedFault, typeOf } from './faults.js'
import { type Cluster, clusterFactory } from './internals.js'
import { bytesOf } from './log-dirs.js'
import { highestTimestamp } from './newest.js'
import type { KafkaOptions } from './options.js'
import { createPresence } from './presence.js'
import { endsOf, endsOfAll, fetchRecords, offsetFor, takeBatch } from './reader.js'
import { ensureTopic } from './topics.js'
import { createWire, leaderOf, type Wire } from './wire.js'
import { createWriter } from './writer.js'

/** The same as the embedded log's, so that both split the same records into the same parts. */
const MAX_VALUE_BYTES = 1_000_000
/** A fetch that finds nothing comes back after this long, or well before it would be taken for lost; a record ends it at once. */
const LONG_POLL_MS = 5000
/** How often a topic that does not exist yet is looked for: soon at first, and it may never come. */
const LOOK_AGAIN_MS = { first: 100, longest: 1000 }
/** A cluster may have topics of others beside ours. */
const OURS = 'dex.'
const NO_MEMBER: Member = { groupGenerationId: -1, memberId: '' }
/** The group is being shared out anew, or was without us: the position is a hint, and the next owner knows better. */
const NOT_OURS = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID'])

export type KafkaLog = EventLog & {
  /** Connections of one purpose more, closed with the log. */
  openWire(): Wire
  fullName(name: string): string
  topicNames(): Promise<string[]>
  /** This process as the groups it is in know it: a group with members takes commits from them alone. */
  readonly memberships: Map<string, Member>
  readonly options: KafkaOptions
}

export type Member = { memberId: string; groupGenerationId: number }

export function openKafkaLog(options: KafkaOptions): KafkaLog {
  const makeCluster = clusterFactory(options)
  const presence = createPresence(options.onAway, options.onBack)
  const wires = new Set<Wire>()
  const memberships = new Map<string, Member>()
  let isClosed = false
  const fullName = (name: string): string => `${options.prefix}${name}`
  const longPollMs = Math.min(LONG_POLL_MS, options.requestTimeoutMs / 2)

  function openWire(): Wire {
    const wire = createWire({ makeCluster, presence, patienceMs: options.patienceMs })
    wires.add(wire)
    return wire
  }

  /** Questions and appends go apart: a slow answer must not hold up an append. */
  const asking = openWire()
  const writer = createWriter({ wire: openWire(), fullName, copies: options.replicationFactor })

  function assertOpen(): void {
    if (isClosed) throw closedFault('a call')
  }

  function ask<T>(doing: string, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    assertOpen()
    return asking.run(doing, work)
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

  /** Its own connections: a fetch that waits would hold up every other on the same one. */
  async function* follow(topic: string, readOptions: ReadOptions, signal: AbortSignal): AsyncGenerator<LogRecord[]> {
    assertName('topic', topic)
    assertOffset(topic, readOptions.from)
    assertOpen()
    const wire = openWire()
    const stop = () => void wire.close()
    signal.addEventListener('abort', stop, { once: true })
    let { from } = readOptions
    let lookAgainMs = LOOK_AGAIN_MS.first
    try {
      while (!signal.aborted && !isClosed) {
        const at = from
        const fetched = await wire.run(`following ${topic}`, (cluster) =>
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
      wires.delete(wire)
      await wire.close()
    }
  }

  return {
    maxValueBytes: MAX_VALUE_BYTES,
    options,
    memberships,
    openWire,
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
      await Promise.all([...wires].map((wire) => wire.close()))
    },
  }
}
