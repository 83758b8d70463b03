/** What a running ingest or aggregate says of itself, for every serving node: one record an instance, in a compacted topic. */
import { tableEntry } from '../log/keyed-table.js'
import type { EventLog } from '../log/port.js'
import { isRetryable, type Sleep, sleep, untilAborted } from '../runtime/backoff.js'
import type { Away } from '../runtime/health.js'
import { type Logger, silentLogger } from '../runtime/logger.js'
import { STATUS_TOPIC } from './internal-topics.js'

export type IngestChain = {
  chain: string
  source: string
  /** Wall clock of the last published record; 0: none yet. */
  publishedAtMs: number
  /** Why nothing more comes, where the source cannot go on. */
  stopped?: string
}
export type FoldChain = { chain: string; indexedFrom: number | null; stopped: string | null }

/** An aggregate tells of the chains it folds now, not of those another one took over. */
export type ServiceReport = { away: Away[] } & (
  | { service: 'ingest'; chains: IngestChain[] }
  | { service: 'aggregate'; chains: FoldChain[] }
)

export type ToldReport = ServiceReport & { instance: string; atMs: number }

export type TellOptions = {
  /** Who says it, as a person may know it: the host and the process. */
  instance: string
  report: () => ServiceReport
  logger?: Logger
  nowMs?: () => number
  sleep?: Sleep
}

const TELL_EVERY_MS = 2_000
/** Unchanged, it is told again: whoever is silent much longer than this is gone. */
export const HEARTBEAT_MS = 15_000

/** Tells what changed, until the signal aborts. A log that is away hears of it later. */
export async function tellStatus(log: EventLog, options: TellOptions, signal: AbortSignal): Promise<void> {
  const { instance, report, logger = silentLogger, nowMs = Date.now, sleep: wait = sleep } = options
  let told = ''
  let toldAtMs = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    const now = report()
    const text = JSON.stringify(now)
    const atMs = nowMs()
    if (text !== told || atMs - toldAtMs >= HEARTBEAT_MS) {
      try {
        const value: ToldReport = { ...now, instance, atMs }
        const entry = tableEntry(`${now.service}/${instance}`, value, atMs)
        await untilAborted(log.append(STATUS_TOPIC, [entry]), signal)
        told = text
        toldAtMs = atMs
      } catch (error) {
        if (signal.aborted) return
        if (!isRetryable(error)) return logger.error('the status is no longer told', { topic: STATUS_TOPIC, error })
      }
    }
    await wait(TELL_EVERY_MS, signal)
  }
}
