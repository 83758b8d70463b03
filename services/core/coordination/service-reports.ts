/** Status reports of running ingest and aggregate services and of replays, for every serve node: one record per instance, compacted. */
import { tableEntry } from '../log/keyed-table.js'
import { type EventLog, STATUS_TOPIC } from '../log/port.js'
import { isRetryable, type Sleep, sleep, untilAborted } from '../runtime/backoff.js'
import { type Logger, silentLogger } from '../runtime/logger.js'
import type { UnreachablePart } from '../runtime/part-health.js'

export type IngestChain = {
  chain: string
  source: string
  /** Wall clock of the last published record; 0: none yet. */
  publishedAtMs: number
  /** Why the source stopped, if it did. */
  stopped?: string
}
export type FoldChain = {
  chain: string
  indexedFrom: number | null
  stopped: string | null
  /** Number of the last block whose rows are stored. */
  storedBlock?: number | null
  epoch?: number
}

export type ReplayStage = 'folding' | 'verifying' | 'switching' | 'stopped' | 'ended'

/** How far the command that replays a chain is; `done` of `total` records, or updates while it verifies. */
export type ReplayedChain = {
  chain: string
  epoch: number
  stage: ReplayStage
  done: number
  total: number
  perS: number
  /** Null: not known. */
  leftS: number | null
}

/** An aggregate reports the chains it folds now, not those another one took over. */
export type ServiceReport = { away: UnreachablePart[] } & (
  | { service: 'ingest'; chains: IngestChain[] }
  | { service: 'aggregate'; chains: FoldChain[] }
  | { service: 'replay'; chains: ReplayedChain[] }
)

export type PublishedReport = ServiceReport & { instance: string; atMs: number }

export type PublishStatusOptions = {
  /** Host and process, for people. */
  instance: string
  report: () => ServiceReport
  logger?: Logger
  nowMs?: () => number
  sleep?: Sleep
}

const PUBLISH_EVERY_MS = 2_000
/** Where the log does not compact topics. */
export const REPORTS_KEPT_MS = 3_600_000
/** An unchanged report is published again this often: an instance silent for much longer is gone. */
export const HEARTBEAT_MS = 15_000

/** Publishes the report when it changes, until the signal aborts. Retries while the log is unreachable. */
export async function publishStatus(log: EventLog, options: PublishStatusOptions, signal: AbortSignal): Promise<void> {
  const { instance, report, logger = silentLogger, nowMs = Date.now, sleep: wait = sleep } = options
  let published = ''
  let publishedAtMs = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    const now = report()
    const text = JSON.stringify(now)
    const atMs = nowMs()
    if (text !== published || atMs - publishedAtMs >= HEARTBEAT_MS) {
      try {
        await untilAborted(publishReport(log, { ...now, instance, atMs }), signal)
        published = text
        publishedAtMs = atMs
      } catch (error) {
        if (signal.aborted) return
        if (!isRetryable(error)) return logger.error('publishing the status failed', { topic: STATUS_TOPIC, error })
      }
    }
    await wait(PUBLISH_EVERY_MS, signal)
  }
}

export async function publishReport(log: EventLog, report: PublishedReport): Promise<void> {
  const { service, instance, atMs } = report
  await log.append(STATUS_TOPIC, [tableEntry(`${service}/${instance}`, report, atMs)])
}
