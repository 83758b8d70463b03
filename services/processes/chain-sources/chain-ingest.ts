/** Reads one chain from its nodes into its live generation, and into the next one when that becomes live. */
import { chainFacts } from '../../core/config/chain-facts.js'
import type { ChainSourceConfig, Config } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import { blocksTopic } from '../../core/log/port.js'
import { firstBlock } from '../../core/log/topic-records.js'
import { abortOf, createBackoff, withRetry } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Health } from '../../core/runtime/part-health.js'
import { createStageLatency } from '../../core/runtime/stage-latency.js'
import type { Tracer } from '../../core/runtime/tracing.js'
import { generationCheckpoint } from '../../ingest/checkpoints.js'
import {
  chainStatus,
  createStatus,
  describeError,
  type IngestStatus,
  registerIngestMetrics,
} from '../../ingest/ingest-status.js'
import { createIngest, type IngestOutcome } from '../../ingest/main.js'
import type { Source } from '../../ingest/source.js'
import type { ExamplePair } from '../choose-source.js'
import type { Platform } from '../platform/platform.js'
import { warnAboutMissingHistory } from './history-scope.js'
import { bookPathOf, type OpenChain } from './open-chain.js'

export type ChainIngest = {
  status: IngestStatus
  /** Resolves when its nodes have responded or failed. Rejects if the configuration is wrong. */
  answered: Promise<void>
  run(signal: AbortSignal): Promise<IngestOutcome>
}

const MAX_RETRY_DELAY_MS = 10_000

/** Undefined: stopped before it was opened. */
type Opened = { generation: number; source: Source | { failed: unknown } } | undefined

export function openChainIngest(
  config: ChainSourceConfig,
  parts: Omit<IngestParts, 'health'> & { open: OpenChain },
  health: Health,
  signal: AbortSignal,
): ChainIngest {
  const { open, platform, logger, metrics, dataDir } = parts
  const { log, codec, generations } = platform
  const { progressMs } = parts.config.intervals
  const { chain } = config
  const facts = chainFacts(parts.config, chain)
  const status = createStatus(chain, chain)
  chainStatus(status, chain)
  registerIngestMetrics(metrics, status)
  const latency = createStageLatency(metrics)

  function onRetry(error: unknown): void {
    status.state = 'retrying'
    status.error = describeError(error)
    health.markUnreachable('source', status.error.message)
  }

  async function openLive(): Promise<Opened> {
    await generations.load()
    const generation = generations.liveOf(chain)
    const attempt = () => open({ config, facts, dataDir, generation, logger, metrics, progressMs, signal })
    const backoff = createBackoff({ maxMs: MAX_RETRY_DELAY_MS })
    try {
      const source = await withRetry(attempt, backoff, signal, onRetry)
      return source === undefined ? undefined : { generation, source }
    } catch (failed) {
      if (failed instanceof ConfigError) throw failed
      return { generation, source: { failed } }
    }
  }

  async function write(source: Source, generation: number, until: AbortSignal): Promise<IngestOutcome> {
    status.source = source.name
    const first = await firstBlock({ log, codec }, blocksTopic(chain, generation))
    warnAboutMissingHistory(config, first, bookPathOf(dataDir, chain, generation), logger)
    const checkpoints = await platform.checkpointsFor({ id: generationCheckpoint(source.id, generation) })
    const ingest = createIngest({
      ...{ source, chain, log, codec, checkpoints, status, logger, health, progressMs },
      generationOf: () => generation,
      ...{ latency, tracer: parts.tracer },
    })
    try {
      return await ingest.run(until)
    } finally {
      await checkpoints.close()
      await source.close?.()
    }
  }

  function fail(error: unknown): IngestOutcome {
    status.state = 'failed'
    status.error = describeError(error)
    logger.error('reading a chain failed', { chain, code: status.error.code, reason: status.error.message })
    return { kind: 'failed', error }
  }

  const first = openLive()

  return {
    status,
    answered: first.then(() => {}),
    async run(until) {
      for (let opened = await first; opened !== undefined; opened = await openLive()) {
        const { generation, source } = opened
        const whileLive = generations.whileLive(chain, generation)
        const asLong = AbortSignal.any([until, whileLive])
        const outcome = 'failed' in source ? fail(source.failed) : await write(source, generation, asLong)
        // Another generation may succeed where this one failed: wait for it.
        if (outcome.kind === 'failed' && !isTakenOver(outcome.error)) await abortOf(asLong)
        if (until.aborted || !whileLive.aborted) return outcome
        logger.info('switching to another generation', { chain, from: generation })
      }
      return { kind: 'stopped' }
    },
  }
}

/** Another process has taken over this chain. */
const isTakenOver = (error: unknown): boolean => error instanceof DextapeError && error.code === 'source_taken'

export type IngestParts = {
  tracer?: Tracer | undefined
  platform: Platform
  config: Config
  logger: Logger
  health: Health
  metrics: Metrics
  dataDir: DataDir
}

export interface Ingests {
  /** One per source, updated in place. */
  readonly statuses: readonly IngestStatus[]
  /** Runs until all have ended or the signal aborts. Throws if the configuration of a chain is wrong. */
  run(signal: AbortSignal): Promise<IngestOutcome>
  /** A pair that trades all the time, if a source knows one. */
  readonly example?: ExamplePair | undefined
}
