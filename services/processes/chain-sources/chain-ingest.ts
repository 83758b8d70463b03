/** One chain read from its nodes into its live generation, and on into the next when that becomes live. */
import { type ChainSourceConfig, chainFacts } from '../../core/config/index.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import { blocksTopic } from '../../core/log/port.js'
import { firstBlock } from '../../core/log/topic-records.js'
import { abortOf, createBackoff, withRetry } from '../../core/runtime/backoff.js'
import type { Health } from '../../core/runtime/health.js'
import { generationCheckpoint } from '../../ingest/checkpoints.js'
import { createIngest, described, type IngestOutcome } from '../../ingest/main.js'
import type { Source } from '../../ingest/source.js'
import { chainStatus, createStatus, type IngestStatus, registerIngestMetrics } from '../../ingest/status.js'
import type { IngestParts } from './ingest-parts.js'
import { tellWhatHistoryLacks } from './kept-scope.js'
import { bookPathOf, type OpenChain } from './open-chain.js'

export type ChainIngest = {
  status: IngestStatus
  /** Its nodes have answered, or cannot be used. Rejects where the configuration is wrong. */
  answered: Promise<void>
  run(signal: AbortSignal): Promise<IngestOutcome>
}

const LONGEST_WAIT_MS = 10_000

/** Undefined: stopped before it was open. */
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

  function onRetry(error: unknown): void {
    status.state = 'retrying'
    status.error = described(error)
    health.away('source', status.error.message)
  }

  async function openLive(): Promise<Opened> {
    await generations.load()
    const generation = generations.liveOf(chain)
    const attempt = () => open({ config, facts, dataDir, generation, logger, metrics, progressMs, signal })
    const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS })
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
    tellWhatHistoryLacks(config, first, bookPathOf(dataDir, chain, generation), logger)
    const checkpoints = await platform.checkpointsFor({ id: generationCheckpoint(source.id, generation) })
    const ingest = createIngest({
      ...{ source, chain, log, codec, checkpoints, status, logger, health, progressMs },
      generationOf: () => generation,
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
    status.error = described(error)
    logger.error('a chain is not read', { chain, code: status.error.code, error: status.error.message })
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
        // What this generation cannot go on with, another may: it is waited for.
        if (outcome.kind === 'failed' && !isTaken(outcome.error)) await abortOf(asLong)
        if (until.aborted || !whileLive.aborted) return outcome
        logger.info('another generation of the chain is live, going on in it', { chain, was: generation })
      }
      return { kind: 'stopped' }
    },
  }
}

/** Another process reads this chain now. */
const isTaken = (error: unknown): boolean => error instanceof DextapeError && error.code === 'source_taken'
