/** Folds the chains assigned to this process until it is asked to stop. */
import { createFoldMeters } from '../aggregate/fold-meters.js'
import { type Aggregate, type AggregateDeps, type AggregateSettings, createAggregate } from '../aggregate/main.js'
import { createOwnedChains } from '../aggregate/owned-chains.js'
import type { ReplayParts } from '../aggregate/replay/replay-parts.js'
import { chainFacts } from '../core/config/chain-facts.js'
import type { Config } from '../core/config/index.js'
import { abortOf } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Metrics } from '../core/runtime/metrics.js'
import type { Shutdown } from '../core/runtime/shutdown.js'
import { createStageLatency } from '../core/runtime/stage-latency.js'
import type { Tracer } from '../core/runtime/tracing.js'
import type { Store } from '../core/store/port.js'
import { registerFoldMetrics } from './chain-status.js'
import type { Platform } from './platform/platform.js'

/** With as many again that are not settled: within the 10,000 to 100,000 rows per insert that ClickHouse recommends. */
const FLUSH_ROWS = 50_000

export type FoldDeps = {
  platform: Platform
  store: Store
  config: Config
  logger: Logger
  metrics: Metrics
  /** Awaited before a chain is opened. */
  beforeChain?: () => Promise<void>
  /** Opens the store whose tables have the rows of a chain's replay. */
  openReplayStore: ReplayParts['openStore']
  /** Called before tables are dropped. */
  beforeDrop?: () => void
  tracer?: Tracer | undefined
} & Pick<AggregateDeps, 'ownsStore' | 'beforeCheckpoint' | 'onLoss'>

export function foldSettings(config: Config, { updatesHeldMs }: Pick<Platform, 'updatesHeldMs'>): AggregateSettings {
  return {
    ...config.fold,
    ...{ flushEveryMs: config.intervals.flushMs, flushRows: FLUSH_ROWS },
    checkpointEveryMs: config.intervals.checkpointMs,
    publishTrades: config.topics.trades,
    ...{ deadKeptMs: config.retention.deadMs, secondCandlesKeptS: config.retention.s1CandlesMs / 1000 },
    ...{ updatesKeptMs: config.retention.updatesMs, updatesHeldMs },
  }
}

export function openFold(deps: FoldDeps): Aggregate {
  const { platform, store, config, logger, metrics, beforeChain, ownsStore = false, beforeCheckpoint, onLoss } = deps
  const { openReplayStore, beforeDrop } = deps
  const aggregate = createAggregate({
    replay: {
      ...platform.replay,
      ...{ openStore: openReplayStore, ...(beforeDrop && { beforeDrop }) },
    },
    ...{ ownsStore, ...(beforeCheckpoint && { beforeCheckpoint }), ...(onLoss && { onLoss }) },
    ...{ log: platform.log, codec: platform.codec, generations: platform.generations, store, logger, nowMs: Date.now },
    ...{ latency: createStageLatency(metrics), meters: createFoldMeters(metrics), tracer: deps.tracer },
    async openState(chain) {
      await beforeChain?.()
      return platform.openState(chain)
    },
    factsOf: (chain) => chainFacts(config, chain),
    settings: foldSettings(config, platform),
  })
  registerFoldMetrics(metrics, aggregate, platform)
  return aggregate
}

/** Resolves with the first failure of the process. A chain that stops leaves the others running. */
export async function runFold(
  aggregate: Aggregate,
  { platform, config, logger }: Pick<FoldDeps, 'platform' | 'config' | 'logger'>,
  shutdown: Pick<Shutdown, 'signal' | 'stop'>,
): Promise<unknown> {
  let failure: unknown
  const fail = (message: string, error: unknown, fields = {}) => {
    failure ??= error
    logger.error(message, { ...fields, error })
    shutdown.stop(message)
  }
  const onFailure = (chain: string, error: unknown) => fail('folding a chain failed', error, { chain })
  const owned = createOwnedChains({ aggregate, logger, onFailure }, shutdown.signal)
  // Chains are flushed before another process may take them over.
  const membership = new AbortController()
  const following = platform
    .followChains((chains) => owned.assign(chains), membership.signal)
    .catch((error: unknown) => {
      // During shutdown the log may close while the broker is unreachable.
      if (!shutdown.signal.aborted) fail('chain assignment failed', error)
    })
  const lastSeq = new Map<string, number>()
  const progress = setInterval(() => reportProgress(aggregate, logger, lastSeq), config.intervals.progressMs)
  await abortOf(shutdown.signal)
  clearInterval(progress)
  await owned.ended()
  membership.abort()
  await following
  return failure
}

/** One line per chain and interval, while it advances; `reported` holds the last reported seq. */
function reportProgress(aggregate: Aggregate, logger: Logger, reported: Map<string, number>): void {
  for (const { chain, seq, head, swaps, repeated, deadByReason, flushedSeq } of aggregate.status()) {
    if (reported.get(chain) === seq) continue
    reported.set(chain, seq)
    logger.info('aggregate progress', {
      chain,
      block: head?.number,
      seq,
      stored_seq: flushedSeq,
      swaps,
      repeated,
      dead_letters: sum(deadByReason.values()),
    })
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
