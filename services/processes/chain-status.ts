/** Status of each chain in ingest and aggregate, for /status and /metrics. */
import type { Aggregate } from '../aggregate/main.js'
import type { AggregateChainStatus } from '../aggregate/pipeline-status.js'
import { DEAD_LETTERS_TOTAL, type Metrics, type Sample } from '../core/runtime/metrics.js'
import type { IngestStatus } from '../ingest/ingest-status.js'
import type { PipeChainStatus } from '../serve/deps.js'

export function pipeStatusOf(
  aggregate: Pick<Aggregate, 'status'>,
  ingests: readonly IngestStatus[],
  nowMs: () => number,
): () => PipeChainStatus[] {
  return () => {
    const folded = new Map(aggregate.status().map((status) => [status.chain, status]))
    // Includes chains whose source has delivered nothing yet.
    const chains = new Set([...folded.keys(), ...ingests.flatMap(({ chain }) => chain ?? [])])
    return [...chains].map((chain) => {
      const ingest = ingests.find((status) => status.chains.has(chain))
      const publishedAtMs = ingest?.chains.get(chain)?.publishedAtMs ?? 0
      const { firstBlock, stopped } = folded.get(chain) ?? { firstBlock: null, stopped: null }
      const reason = stopped ?? (ingest === undefined ? null : failureOf(ingest))
      return {
        chain,
        source: ingest?.source ?? '',
        sourceAgeS: publishedAtMs === 0 ? null : Math.floor((nowMs() - publishedAtMs) / 1000),
        indexedFrom: firstBlock?.number ?? null,
        ...(reason === null ? {} : { stopped: reason }),
      }
    })
  }
}

/** Why a source has stopped; null while it runs. */
export function failureOf({ state, error }: IngestStatus): string | null {
  return state === 'failed' ? `source failed: ${error?.message ?? 'unknown reason'}` : null
}

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
