/** Counters of ingest: hot paths add to them; /status, /metrics and the progress log read them. */
import { DextapeError } from '../core/domain/errors.js'
import type { DeadLetter } from '../core/domain/records.js'
import type { Logger } from '../core/runtime/logger.js'
import { DEAD_LETTERS_TOTAL, type Metrics, type Sample } from '../core/runtime/metrics.js'
import type { ChainMark } from './checkpoints.js'
import type { SourceRecord } from './source.js'

export type ChainIngestStatus = {
  /** The last block published, by this or an earlier run. */
  head?: ChainMark
  /** Wall clock of this run's last published record; 0: none yet. */
  publishedAtMs: number
  blocks: number
  retracts: number
  events: number
  /** By reason, since the process started. */
  deadLetters: Map<string, number>
}

export type IngestState = 'starting' | 'running' | 'retrying' | 'done' | 'stopped' | 'failed'

export type IngestStatus = {
  source: string
  /** Set if it reads exactly one chain. */
  chain?: string
  state: IngestState
  /** Why it failed or is retrying. */
  error?: { code: string; message: string }
  chains: Map<string, ChainIngestStatus>
  appendedBytes: number
  /** Appends to the log. */
  batches: number
  /** Where the time goes: waiting for the source, or for the log. */
  sourceWaitMs: number
  logWaitMs: number
}

export function createStatus(source: string, chain?: string): IngestStatus {
  const only = chain === undefined ? {} : { chain }
  return { source, ...only, state: 'starting', chains: new Map(), ...noCounts() }
}

const noCounts = () => ({ appendedBytes: 0, batches: 0, sourceWaitMs: 0, logWaitMs: 0 })

export function chainStatus(status: IngestStatus, chain: string): ChainIngestStatus {
  let found = status.chains.get(chain)
  if (found === undefined) {
    found = { publishedAtMs: 0, blocks: 0, retracts: 0, events: 0, deadLetters: new Map() }
    status.chains.set(chain, found)
  }
  return found
}

export type RecordCount = { chain: string; blocks: number; retracts: number; events: number }

export function countOf(record: SourceRecord): RecordCount {
  if (record.kind === 'retract') return { chain: record.retract.chain, blocks: 0, retracts: 1, events: 0 }
  return { chain: record.block.chain, blocks: 1, retracts: 0, events: record.block.events.length }
}

export function countRecord(
  status: IngestStatus,
  { chain, blocks, retracts, events }: RecordCount,
  nowMs: number,
): void {
  const counted = chainStatus(status, chain)
  counted.blocks += blocks
  counted.retracts += retracts
  counted.events += events
  counted.publishedAtMs = nowMs
}

export function countLetter(status: IngestStatus, { chain, reason }: DeadLetter): void {
  const { deadLetters } = chainStatus(status, chain)
  deadLetters.set(reason, (deadLetters.get(reason) ?? 0) + 1)
}

export function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof DextapeError) return { code: error.code, message: error.message }
  return { code: 'unexpected', message: error instanceof Error ? error.message : String(error) }
}

export type IngestTotals = { blocks: number; retracts: number; events: number; deadLetters: number }

export function totals(status: IngestStatus): IngestTotals {
  const sum = { blocks: 0, retracts: 0, events: 0, deadLetters: 0 }
  for (const chain of status.chains.values()) {
    sum.blocks += chain.blocks
    sum.retracts += chain.retracts
    sum.events += chain.events
    for (const count of chain.deadLetters.values()) sum.deadLetters += count
  }
  return sum
}

export function registerIngestMetrics(metrics: Metrics, status: IngestStatus): void {
  const perChain = (value: (chain: ChainIngestStatus) => number) =>
    function* (): Iterable<Sample> {
      for (const [chain, counts] of status.chains) yield { labels: { chain }, value: value(counts) }
    }
  const labels = ['chain']
  metrics.counter(
    { name: 'dextape_ingest_blocks_total', help: 'Blocks published to the log', labels },
    perChain(({ blocks }) => blocks),
  )
  metrics.counter(
    { name: 'dextape_ingest_retracts_total', help: 'Retracts published to the log', labels },
    perChain(({ retracts }) => retracts),
  )
  metrics.counter(
    { name: 'dextape_ingest_events_total', help: 'Events in the blocks published', labels },
    perChain(({ events }) => events),
  )
  metrics.gauge(
    { name: 'dextape_ingest_head_time_seconds', help: 'Chain time of the last block published', labels },
    perChain(({ head }) => head?.timeS ?? 0),
  )
  metrics.gauge(
    { name: 'dextape_ingest_head_blocks', help: 'Number of the last block published', labels },
    perChain(({ head }) => head?.number ?? 0),
  )
  metrics.gauge(
    {
      name: 'dextape_ingest_published_timestamp_seconds',
      help: 'Wall clock of the last record published, until the source ends',
      labels,
    },
    function* () {
      // A source that has ended is not late.
      if (status.state === 'done') return
      for (const [chain, { publishedAtMs }] of status.chains)
        if (publishedAtMs > 0) yield { labels: { chain }, value: publishedAtMs / 1000 }
    },
  )
  const perSource = (value: () => number) => () => [{ labels: { source: status.source }, value: value() }]
  metrics.counter(
    { name: 'dextape_ingest_appended_bytes_total', help: 'Bytes appended to the log', labels: ['source'] },
    perSource(() => status.appendedBytes),
  )
  metrics.counter(
    { name: 'dextape_ingest_batches_total', help: 'Appends to the log', labels: ['source'] },
    perSource(() => status.batches),
  )
  metrics.gauge(
    {
      name: 'dextape_ingest_failed',
      help: '1 if the source has failed and is not retried',
      labels: ['source'],
    },
    perSource(() => (status.state === 'failed' ? 1 : 0)),
  )
  metrics.counter(
    { name: 'dextape_ingest_source_wait_seconds_total', help: 'Time spent waiting for the source', labels: ['source'] },
    perSource(() => status.sourceWaitMs / 1000),
  )
  metrics.counter(
    { name: 'dextape_ingest_log_wait_seconds_total', help: 'Time spent waiting for the log', labels: ['source'] },
    perSource(() => status.logWaitMs / 1000),
  )
  metrics.counter(DEAD_LETTERS_TOTAL, function* () {
    for (const [chain, { deadLetters }] of status.chains)
      for (const [reason, value] of deadLetters) yield { labels: { chain, reason }, value }
  })
}

/** Logs what ingest has published: once per interval, and in total when it stops. */
export function startProgressLog(status: IngestStatus, everyMs: number, logger: Logger): { stop(): void } {
  const startedMs = performance.now()
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
      report(`ingest ${status.state}`, performance.now() - startedMs)
    },
  }
}
