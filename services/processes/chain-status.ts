/** Status of each chain in ingest and aggregate, for /status and /metrics. */
import type { Aggregate } from '../aggregate/main.js'
import type { AggregateChainStatus } from '../aggregate/pipeline-status.js'
import type { LiveGenerations } from '../core/coordination/generations.js'
import type { FoldChain, IngestChain } from '../core/coordination/service-reports.js'
import { blocksTopic, type EventLog } from '../core/log/port.js'
import { DEAD_LETTERS_TOTAL, type Metrics, type Sample } from '../core/runtime/metrics.js'
import type { IngestStatus } from '../ingest/ingest-status.js'

/** Of a source, for whoever serves. */
export function reportedChains(status: IngestStatus): IngestChain[] {
  const stopped = failureOf(status)
  return [...status.chains].map(([chain, { publishedAtMs }]) => ({
    ...{ chain, source: status.source, publishedAtMs },
    ...(stopped === null ? {} : { stopped }),
  }))
}

/** Why a source has stopped; null while it runs. */
function failureOf({ state, error }: IngestStatus): string | null {
  return state === 'failed' ? `source failed: ${error?.message ?? 'unknown reason'}` : null
}

/** Of the fold, for whoever serves. */
export const foldedChains = (statuses: readonly AggregateChainStatus[]): FoldChain[] =>
  statuses.map(({ chain, epoch, firstBlock, stopped, flushedBlock }) => ({
    ...{ chain, epoch, indexedFrom: firstBlock?.number ?? null, stopped, storedBlock: flushedBlock },
  }))

export type FoldLog = { log: Pick<EventLog, 'topics'>; generations: Pick<LiveGenerations, 'liveOf'> }

export function registerFoldMetrics(metrics: Metrics, aggregate: Pick<Aggregate, 'status'>, foldLog: FoldLog): void {
  const perChain = (value: (status: AggregateChainStatus) => number) =>
    function* (): Iterable<Sample> {
      for (const status of aggregate.status()) yield { labels: { chain: status.chain }, value: value(status) }
    }
  const labels = ['chain']
  const counters = [
    ['dextape_fold_blocks_total', 'Blocks applied', (status: AggregateChainStatus) => status.blocks],
    ['dextape_fold_swaps_total', 'Swaps applied', (status: AggregateChainStatus) => status.swaps],
    ['dextape_fold_retracts_total', 'Retracts applied', (status: AggregateChainStatus) => status.retracts],
    ['dextape_fold_repeated_total', 'Duplicate records dropped', (status: AggregateChainStatus) => status.repeated],
  ] as const
  for (const [name, help, value] of counters) metrics.counter({ name, help, labels }, perChain(value))
  metrics.gauge(
    { name: 'dextape_fold_head_blocks', help: 'Number of the last block applied', labels },
    perChain((s) => s.head?.number ?? 0),
  )
  metrics.gauge(
    { name: 'dextape_fold_head_time_seconds', help: 'Chain time of the last block applied', labels },
    perChain((s) => s.nowS),
  )
  const backlogOf = createBacklog(foldLog)
  metrics.gauge({ name: 'dextape_fold_backlog_records', help: 'Records of the log not folded yet', labels }, () =>
    backlogOf(aggregate.status()),
  )
  metrics.counter(
    { name: 'dextape_fold_log_wait_seconds_total', help: 'Time spent waiting for the log', labels },
    perChain((s) => s.logWaitMs / 1000),
  )
  metrics.counter(
    { name: 'dextape_fold_store_wait_seconds_total', help: 'Time spent waiting for the store', labels },
    perChain((s) => s.storeWaitMs / 1000),
  )
  metrics.gauge(
    { name: 'dextape_store_waiting_rows', help: 'Rows folded that wait for their batch', labels },
    perChain((s) => s.waitingRows),
  )
  metrics.gauge(
    { name: 'dextape_fold_seq', help: 'Seq of the last update', labels },
    perChain((s) => s.seq),
  )
  metrics.gauge(
    { name: 'dextape_store_seq', help: 'Seq up to which rows are stored', labels },
    perChain((s) => s.flushedSeq),
  )
  metrics.gauge(
    { name: 'dextape_chain_stopped', help: '1 if the chain has stopped', labels },
    perChain((s) => (s.stopped === null ? 0 : 1)),
  )
  metrics.counter(DEAD_LETTERS_TOTAL, function* () {
    for (const { chain, deadByReason } of aggregate.status()) {
      for (const [reason, value] of deadByReason) yield { labels: { chain, reason }, value }
    }
  })
}

/**
 * Each call asks the log how far it goes, and answers with what it said last time: /metrics must not wait for a log that is
 * unreachable. Asked every few seconds, it is a scrape behind.
 */
function createBacklog({ log, generations }: FoldLog): (statuses: readonly AggregateChainStatus[]) => Sample[] {
  let ends: ReadonlyMap<string, number> = new Map()
  let isAsking = false

  function ask(): void {
    if (isAsking) return
    isAsking = true
    log
      .topics()
      .then((topics) => {
        ends = new Map(topics.map(({ topic, end }) => [topic, end]))
      })
      .catch(() => {})
      .finally(() => {
        isAsking = false
      })
  }

  return (statuses) => {
    ask()
    return statuses.flatMap(({ chain, position }) => {
      const end = ends.get(blocksTopic(chain, generations.liveOf(chain)))
      return end === undefined ? [] : [{ labels: { chain }, value: Math.max(0, end - position) }]
    })
  }
}
