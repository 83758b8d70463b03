/**
 * The pipe of ingest: source → validate (in the source) → encode → append in batches → checkpoint.
 * Retryable failures are tried again after a back-off; what cannot be used becomes a dead letter; the rest goes on.
 */
import type { RecordName } from '../../schemas/avro.js'
import { DextapeError } from '../core/domain/errors.js'
import { blocksTopic, deadTopic, type EventLog } from '../core/log/port.js'
import { type Backoff, createBackoff, isRetryable, withRetry } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import { createHealth, type Health, type Part } from '../core/runtime/part-health.js'
import { type Batch, createBatch } from './batch.js'
import { type ChainMark, type Checkpoints, generationCheckpoint, memoryCheckpoints } from './checkpoints.js'
import type { IngestCodec } from './encode.js'
import { createPublisher, type Publisher } from './publish.js'
import { readPublished } from './published.js'
import { chainOf, type Source, type SourceItem } from './source.js'
import { chainStatus, createStatus, type IngestStatus, totals } from './status.js'

export type IngestOutcome = { kind: 'done' } | { kind: 'stopped' } | { kind: 'failed'; error: unknown }

export type IngestDeps<Position> = {
  source: Source<Position>
  log: EventLog
  codec: IngestCodec
  checkpoints: Checkpoints
  logger: Logger
  progressMs: number
  nowMs?: () => number
  backoff?: Backoff
  /** Told what is being retried. */
  health?: Health
  /** One that goes on, where the source is opened anew. */
  status?: IngestStatus
  /** Which generation of each chain's history is written; the first unless told. */
  generationOf?: (chain: string) => number
  /** The chain of a source that can go on after any block: it goes on after the log's last, whatever checkpoints say. */
  chain?: string
}

export interface Ingest {
  /** Until the source ends, fails for good, or the signal aborts. Does not throw. */
  run(signal: AbortSignal): Promise<IngestOutcome>
  /** Live. */
  readonly status: IngestStatus
}

export function createIngest<Position>(deps: IngestDeps<Position>): Ingest {
  const { source, log, logger, nowMs = Date.now, backoff = createBackoff() } = deps
  const health = deps.health ?? createHealth({ logger, nowMs })
  const status = deps.status ?? createStatus(source.name)
  const checkpoints = source.id === null ? memoryCheckpoints() : deps.checkpoints
  const sourceId = source.id === null ? 'stream' : checkpointId(source.id, deps.chain, deps.generationOf)
  const topicOf = (chain: string) => blocksTopic(chain, deps.generationOf?.(chain))
  const prepared = new Set<string>()

  async function run(signal: AbortSignal): Promise<IngestOutcome> {
    const progress = startProgress(status, deps.progressMs, logger)
    try {
      const opened = await withRetry(openPublisher, backoff, signal, retrying('log'))
      while (opened !== undefined && !signal.aborted) {
        try {
          await pass(opened, signal)
          break
        } catch (error) {
          if (!isRetryable(error)) throw error
          retrying('source')(error)
          await backoff.wait(signal)
        }
      }
      status.state = signal.aborted ? 'stopped' : 'done'
      return { kind: status.state }
    } catch (error) {
      status.state = 'failed'
      status.error = described(error)
      logger.error('ingest failed', { source: source.name, code: status.error.code, error: status.error.message })
      return { kind: 'failed', error }
    } finally {
      progress.stop()
    }
  }

  async function openPublisher(): Promise<Publisher> {
    const onLost = (topic: string) =>
      logger.warn('the log holds less than was published, playing the source from its start', { topic })
    const ownTopic = source.positionAt === undefined || deps.chain === undefined ? undefined : topicOf(deps.chain)
    const publisher = await createPublisher({ log, checkpoints, sourceId, onLost, resumedTopic: ownTopic })
    for (const [chain, mark] of Object.entries(publisher.checkpoint.chains)) chainStatus(status, chain).head = mark
    return publisher
  }

  /** Where a pass begins. */
  async function resume(publisher: Publisher): Promise<{ from: Position | undefined; recent: ChainMark[] }> {
    const kept = publisher.checkpoint.position as Position | undefined
    if (source.positionAt === undefined || deps.chain === undefined) return { from: kept, recent: [] }
    const recent = await readPublished(log, deps.codec, topicOf(deps.chain))
    const head = recent.at(-1)
    if (head === undefined) return { from: kept, recent }
    chainStatus(status, deps.chain).head = head
    const isCurrent = publisher.checkpoint.chains[deps.chain]?.hash === head.hash
    return { from: kept !== undefined && isCurrent ? kept : source.positionAt(head, recent), recent }
  }

  /** To the source's end. What the source gave before it failed is published before the failure is told. */
  async function pass(publisher: Publisher, signal: AbortSignal): Promise<void> {
    const { from, recent } = await resume(publisher)
    status.state = 'running'
    const items = source.items(from, signal, recent)
    const newBatch = () => createBatch<Position>(deps.codec, log.maxValueBytes, source.name, status, topicOf)
    let batch = newBatch()
    let failure: { error: unknown } | undefined
    try {
      for (;;) {
        const asked = performance.now()
        const next = await items.next().catch((error: unknown) => {
          failure = { error }
          return undefined
        })
        status.sourceWaitMs += performance.now() - asked
        if (next === undefined) break
        if (next.done) break
        health.markReachable('source')
        if (next.value.kind !== 'idle') {
          if (!(await prepare(next.value, signal))) break
          batch.add(next.value)
        }
        if (batch.isFull || (next.value.kind === 'idle' && !batch.isEmpty)) {
          await flush(publisher, batch, signal)
          if (signal.aborted) return
          batch = newBatch()
        }
      }
      if (!batch.isEmpty) await flush(publisher, batch, signal)
    } finally {
      await items.return(undefined).catch(() => {})
    }
    if (failure !== undefined) throw failure.error
  }

  /** A remote registry must know a topic's schemas before its first record. False: stopped before it did. */
  async function prepare(item: Exclude<SourceItem<Position>, { kind: 'idle' }>, signal: AbortSignal): Promise<boolean> {
    const [topic, records]: [string, RecordName[]] =
      item.kind === 'dead'
        ? [deadTopic(item.letter.chain), ['dead_letter']]
        : [topicOf(chainOf(item.record)), ['block', 'retract']]
    if (prepared.has(topic)) return true
    const attempt = async () => {
      await deps.codec.prepare(topic, records)
      return true
    }
    if ((await withRetry(attempt, backoff, signal, retrying('registry'))) === undefined) return false
    health.markReachable('registry')
    prepared.add(topic)
    return true
  }

  async function flush(publisher: Publisher, batch: Batch<Position>, signal: AbortSignal): Promise<void> {
    const started = performance.now()
    const { entries, position, chains } = batch.finish()
    // A stop that comes while a batch is ready still publishes it: one append is quick.
    const attempt = async () => {
      await publisher.publish(entries, position, chains)
      return true
    }
    const published = signal.aborted ? await attempt() : await withRetry(attempt, backoff, signal, retrying('log'))
    status.logWaitMs += performance.now() - started
    if (published === undefined) return
    health.markReachable('log')
    status.state = 'running'
    delete status.error
    batch.count(nowMs())
  }

  const retrying = (part: Part) => (error: unknown) => {
    status.state = 'retrying'
    status.error = described(error)
    health.markUnreachable(part, status.error.message)
  }

  return { run, status }
}

/** Each generation has checkpoints of its own, where the source is of one chain. */
function checkpointId(
  id: string,
  chain: string | undefined,
  generationOf: IngestDeps<unknown>['generationOf'],
): string {
  const generation = chain === undefined ? 1 : (generationOf?.(chain) ?? 1)
  return generationCheckpoint(id, generation)
}

export function described(error: unknown): { code: string; message: string } {
  if (error instanceof DextapeError) return { code: error.code, message: error.message }
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) }
}

function startProgress(status: IngestStatus, everyMs: number, logger: Logger): { stop(): void } {
  const started = performance.now()
  let last = totals(status)
  const report = (message: string, sinceMs: number) => {
    const now = totals(status)
    const perS = (count: number) => Math.round((count * 1000) / Math.max(1, sinceMs))
    logger.info(message, {
      source: status.source,
      blocks: now.blocks,
      events: now.events,
      dead_letters: now.deadLetters,
      events_per_s: perS(now.events - last.events),
    })
    last = now
  }
  const timer = setInterval(() => report('ingest', everyMs), everyMs)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      last = { blocks: 0, retracts: 0, events: 0, deadLetters: 0 }
      report(`ingest ${status.state}`, performance.now() - started)
    },
  }
}
