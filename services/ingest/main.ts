/**
 * The pipe of ingest: read (and validate, in the source) → encode into a batch → publish → checkpoint.
 * Retryable failures are retried with back-off. Unusable input becomes a dead letter; the rest is published.
 */
import { blocksTopic, type EventLog } from '../core/log/port.js'
import { type Backoff, createBackoff, isRetryable, withRetry } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import { createHealth, type Health, type Part } from '../core/runtime/part-health.js'
import { type StageLatency, wallMs } from '../core/runtime/stage-latency.js'
import type { Tracer } from '../core/runtime/tracing.js'
import { type Batch, createBatch } from './batch.js'
import type { Checkpoints } from './checkpoints.js'
import { createTopicSchemas, type IngestCodec, type SchemasOfTopic } from './encode-records.js'
import { createStatus, describeError, type IngestStatus, startProgressLog } from './ingest-status.js'
import type { Publisher } from './publish.js'
import { createResume } from './resume-source.js'
import type { Source } from './source.js'

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
  /** Gets the parts that are being retried. */
  health?: Health
  /** An existing status to continue, if the source is opened again. */
  status?: IngestStatus
  /** The generation of each chain's history to write; default: the first. */
  generationOf?: (chain: string) => number
  /** The chain of a source that can resume after any block: it resumes after the log's last block, whatever its checkpoint. */
  chain?: string
  latency?: StageLatency
  tracer?: Tracer | undefined
}

export interface Ingest {
  /** Runs until the source ends or fails permanently, or the signal aborts. Does not throw. */
  run(signal: AbortSignal): Promise<IngestOutcome>
  /** Live. */
  readonly status: IngestStatus
}

export function createIngest<Position>(deps: IngestDeps<Position>): Ingest {
  const { source, log, logger, nowMs = Date.now, backoff = createBackoff() } = deps
  const health = deps.health ?? createHealth({ logger, nowMs })
  const status = deps.status ?? createStatus(source.name)
  const topicOf = (chain: string) => blocksTopic(chain, deps.generationOf?.(chain))
  const resume = createResume({ ...deps, status, topicOf })
  const { unregisteredSchemas, markRegistered } = createTopicSchemas(topicOf)

  async function run(signal: AbortSignal): Promise<IngestOutcome> {
    const progress = startProgressLog(status, deps.progressMs, logger)
    try {
      const publisher = await withRetry(resume.openPublisher, backoff, signal, retrying('log'))
      while (publisher !== undefined && !signal.aborted) {
        try {
          await readAndPublish(publisher, signal)
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
      status.error = describeError(error)
      logger.error('ingest failed', { source: source.name, code: status.error.code, reason: status.error.message })
      return { kind: 'failed', error }
    } finally {
      progress.stop()
    }
  }

  /** To the source's end. If the source fails, everything it gave before is published before its error is thrown. */
  async function readAndPublish(publisher: Publisher, signal: AbortSignal): Promise<void> {
    const { from, recent } = await resume.findPosition(publisher)
    status.state = 'running'
    const items = source.items(from, signal, recent)
    const newBatch = () =>
      createBatch<Position>(deps.codec, log.maxValueBytes, source.name, status, topicOf, deps.tracer)
    let batch = newBatch()
    let failure: { error: unknown } | undefined
    try {
      for (;;) {
        const askedMs = performance.now()
        const next = await items.next().catch((error: unknown) => {
          failure = { error }
          return undefined
        })
        status.sourceWaitMs += performance.now() - askedMs
        if (next === undefined || next.done) break
        health.markReachable('source')
        const item = next.value
        if (item.kind !== 'idle') {
          const schemas = unregisteredSchemas(item)
          if (schemas !== undefined && !(await registerSchemas(schemas, signal))) break
          batch.add(item, wallMs())
        }
        if (batch.isFull || (item.kind === 'idle' && !batch.isEmpty)) {
          await publish(publisher, batch, signal)
          if (signal.aborted) return
          batch = newBatch()
        }
      }
      if (!batch.isEmpty) await publish(publisher, batch, signal)
    } finally {
      await items.return(undefined).catch(() => {})
    }
    if (failure !== undefined) throw failure.error
  }

  /** False: stopped before the registry accepted them. */
  async function registerSchemas(schemas: SchemasOfTopic, signal: AbortSignal): Promise<boolean> {
    const attempt = async () => {
      await deps.codec.prepare(schemas.topic, schemas.records)
      return true
    }
    if ((await withRetry(attempt, backoff, signal, retrying('registry'))) === undefined) return false
    health.markReachable('registry')
    markRegistered(schemas)
    return true
  }

  async function publish(publisher: Publisher, batch: Batch<Position>, signal: AbortSignal): Promise<void> {
    const startedMs = performance.now()
    const { entries, position, chains } = batch.finish()
    const attempt = async () => {
      await publisher.publish(entries, position, chains)
      return true
    }
    // A batch that is ready when the stop comes is still published: one append is quick.
    const published = signal.aborted ? await attempt() : await withRetry(attempt, backoff, signal, retrying('log'))
    status.logWaitMs += performance.now() - startedMs
    if (published === undefined) return
    health.markReachable('log')
    status.state = 'running'
    delete status.error
    batch.count(nowMs())
  }

  const retrying = (part: Part) => (error: unknown) => {
    status.state = 'retrying'
    status.error = describeError(error)
    health.markUnreachable(part, status.error.message)
  }

  return { run, status }
}
