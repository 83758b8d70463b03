/** Status of each chain in ingest and aggregate, for /status and /metrics. */
import type { Aggregate } from '../aggregate/main.js'
import type { AggregateChainStatus } from '../aggregate/pipeline-status.js'
import type { FoldChain, IngestChain } from '../core/coordination/service-reports.js'
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

export function registerFoldMetrics(metrics: Metrics, aggregate: Aggregate): void {
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
