/**
 * Appends to the log and checkpoints. A crash between an append and its checkpoint leaves records in the log that the source
 * will return again: they are found at the log's end and not appended twice.
 */
import { createHash } from 'node:crypto'
import { deadTopic, type EventLog, type LogEntry } from '../core/log/port.js'
import { type StageLatency, wallMs } from '../core/runtime/stage-latency.js'
import type { Tracer } from '../core/runtime/tracing.js'
import type { Checkpoint, Checkpoints } from './checkpoints.js'
import type { TopicEntry } from './encode-records.js'

/** More records than one source can have unacknowledged. */
const TAIL_MAX_RECORDS = 100_000

export interface Publisher {
  /** Durable and checkpointed once resolved. Safe to call again with the same entries after a failure. */
  publish(entries: readonly TopicEntry[], position: unknown, chains: Checkpoint['chains']): Promise<void>
  readonly checkpoint: Checkpoint
}

export type PublisherDeps = {
  log: EventLog
  checkpoints: Checkpoints
  sourceId: string
  onLost: (topic: string) => void
  /**
   * The source resumes after this topic's last record, so none of them is returned again. Searching for duplicates would be wrong:
   * a block may have been retracted and published again between two runs.
   */
  resumedTopic?: string | undefined
  latency?: StageLatency | undefined
  tracer?: Tracer | undefined
}

export async function createPublisher({
  log,
  checkpoints,
  sourceId,
  onLost,
  resumedTopic,
  latency,
  tracer,
}: PublisherDeps): Promise<Publisher> {
  let checkpoint = checkpoints.get(sourceId) ?? { ends: {}, chains: {} }
  for (const [topic, end] of Object.entries(checkpoint.ends)) {
    if ((await log.info(topic)).end >= end) continue
    // Not the log of this checkpoint: records it lists as published are missing.
    onLost(topic)
    checkpoint = { ends: {}, chains: {} }
    break
  }
  const tails = new Map<string, Tail>()
  let attempt: { entries: readonly TopicEntry[]; fresh: Map<string, LogEntry[]>; appended: Set<string> } | undefined

  async function tailOf(topic: string): Promise<Tail> {
    const known = checkpoint.ends[topic]
    if (known !== undefined) {
      const tail = tails.get(topic) ?? createTail(topic === resumedTopic ? [] : await hashesFrom(log, topic, known))
      tails.set(topic, tail)
      return tail
    }
    // Stored before the first append: otherwise a crash right after it would leave records without a checkpoint.
    checkpoint = { ...checkpoint, ends: { ...checkpoint.ends, [topic]: (await log.info(topic)).end } }
    await checkpoints.put(sourceId, checkpoint)
    const tail = createTail([])
    tails.set(topic, tail)
    return tail
  }

  async function startAttempt(entries: readonly TopicEntry[]) {
    const fresh = new Map<string, LogEntry[]>()
    for (const [topic, given] of lettersFirst(byTopic(entries))) {
      const tail = await tailOf(topic)
      fresh.set(
        topic,
        given.filter((entry) => !tail.has(entry)),
      )
    }
    return { entries, fresh, appended: new Set<string>() }
  }

  return {
    get checkpoint() {
      return checkpoint
    },
    async publish(entries, position, chains) {
      if (attempt?.entries !== entries) attempt = await startAttempt(entries)
      for (const [topic, fresh] of attempt.fresh) {
        if (fresh.length === 0 || attempt.appended.has(topic)) continue
        const first = await log.append(topic, fresh)
        attempt.appended.add(topic)
        for (const { arrivedMs, traced, value } of fresh) {
          if (arrivedMs === undefined) continue
          latency?.observe('append', arrivedMs)
          if (traced !== undefined) tracer?.span(traced, 'block', arrivedMs, wallMs(), { bytes: value.length })
        }
        checkpoint = { ...checkpoint, ends: { ...checkpoint.ends, [topic]: first + fresh.length } }
      }
      checkpoint = { position, ends: checkpoint.ends, chains }
      await checkpoints.put(sourceId, checkpoint)
      attempt = undefined
    },
  }
}

function byTopic(entries: readonly TopicEntry[]): Map<string, LogEntry[]> {
  const grouped = new Map<string, LogEntry[]>()
  for (const { topic, entry } of entries) {
    const list = grouped.get(topic)
    if (list === undefined) grouped.set(topic, [entry])
    else list.push(entry)
  }
  return grouped
}

/** A crash between two topics must not leave blocks without the dead letters of their omitted events. */
function lettersFirst(grouped: Map<string, LogEntry[]>): [topic: string, entries: LogEntry[]][] {
  const isDead = (topic: string) => Number(topic.startsWith(deadTopic('')))
  return [...grouped].sort(([a], [b]) => isDead(b) - isDead(a))
}

type Tail = { has(entry: LogEntry): boolean }

/**
 * This source's records are in order, possibly with others in between (aggregate writes dead letters too). The first one not
 * found and all after it were not appended.
 */
function createTail(hashes: readonly string[]): Tail {
  let at = 0
  return {
    has(entry) {
      if (at >= hashes.length) return false
      const index = hashes.indexOf(hashOf(entry.value), at)
      at = index === -1 ? hashes.length : index + 1
      return index !== -1
    },
  }
}

async function hashesFrom(log: EventLog, topic: string, from: number): Promise<string[]> {
  const hashes: string[] = []
  let offset = from
  while (hashes.length < TAIL_MAX_RECORDS) {
    const records = await log.read(topic, { from: offset, maxRecords: 1000 })
    const last = records.at(-1)
    if (last === undefined) break
    for (const { value } of records) hashes.push(hashOf(value))
    offset = last.offset + 1
  }
  return hashes
}

function hashOf(value: Uint8Array): string {
  return createHash('sha1').update(value).digest('base64')
}
