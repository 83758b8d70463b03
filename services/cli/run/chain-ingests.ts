/** Every chain read from its nodes, each on its own: one that cannot go on is told, and the others do. */
import { chainFacts, type EvmSourceConfig } from '../../core/config/index.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import { createBackoff, withRetry } from '../../core/runtime/backoff.js'
import type { Health } from '../../core/runtime/health.js'
import type { Logger } from '../../core/runtime/logger.js'
import { generationCheckpoint } from '../../ingest/checkpoints.js'
import { createIngest, described, type IngestOutcome } from '../../ingest/main.js'
import type { Source } from '../../ingest/source.js'
import { chainStatus, createStatus, type IngestStatus, registerIngestMetrics } from '../../ingest/status.js'
import { createChainHealth } from './chain-health.js'
import type { IngestParts, Ingests } from './ingests.js'
import type { OpenChain } from './open-chain.js'
import { abortOf } from './process.js'

export type ChainIngestsOptions = IngestParts & {
  open: OpenChain
  /** A mistake in the configuration is told before anything else starts, unless the nodes take longer than this to answer. */
  patienceMs?: number
}

const PATIENCE_MS = 10_000
const LONGEST_WAIT_MS = 10_000

type Opened = Source | { failed: unknown } | undefined

export async function openChainIngests(
  configs: readonly EvmSourceConfig[],
  options: ChainIngestsOptions,
  signal: AbortSignal,
): Promise<Ingests> {
  const healthOf = createChainHealth(options.health)
  const chains = configs.map((config) => openOne(config, options, healthOf(config.chain), signal))
  await firstOf(chains, options.patienceMs ?? PATIENCE_MS)
  return {
    statuses: chains.map(({ status }) => status),
    async run(until) {
      const outcomes = await Promise.all(chains.map((chain) => chain.run(until)))
      const failed = outcomes.find(({ kind }) => kind === 'failed')
      // While one chain is read the process has something to do.
      if (failed !== undefined && outcomes.every(({ kind }) => kind === 'failed')) return failed
      return { kind: until.aborted ? 'stopped' : 'done' }
    },
  }
}

type ChainIngest = {
  status: IngestStatus
  opened: Promise<Opened>
  run(signal: AbortSignal): Promise<IngestOutcome>
}

function openOne(
  config: EvmSourceConfig,
  { open, platform, config: all, logger, metrics, dataDir }: ChainIngestsOptions,
  health: Health,
  signal: AbortSignal,
): ChainIngest {
  const { chain } = config
  const status = createStatus(chain, chain)
  chainStatus(status, chain)
  registerIngestMetrics(metrics, status)
  const facts = chainFacts(all, chain)
  const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS })
  const { progressMs } = all.intervals
  const attempt = () => open({ config, facts, dataDir, logger, metrics, progressMs, signal })
  const onRetry = (error: unknown) => {
    status.state = 'retrying'
    status.error = described(error)
    health.away('source', status.error.message)
  }
  const opened = withRetry(attempt, backoff, signal, onRetry).catch((failed: unknown) => ({ failed }))

  return {
    status,
    opened,
    async run(until) {
      const source = await opened
      if (source === undefined) return { kind: 'stopped' }
      if ('failed' in source) return fail(status, source.failed, logger)
      status.source = source.name
      const deps = { chain, platform, logger, health, progressMs }
      return followGenerations(source, status, deps, until).finally(() => source.close?.())
    },
  }
}

type GenerationDeps = Pick<IngestParts, 'platform' | 'logger' | 'health'> & { chain: string; progressMs: number }

/** Writes the chain's live generation; when another becomes live, goes on in that one after its last block. */
async function followGenerations(
  source: Source,
  status: IngestStatus,
  { chain, platform, logger, health, progressMs }: GenerationDeps,
  signal: AbortSignal,
): Promise<IngestOutcome> {
  const { log, codec, generations } = platform
  await generations.load()
  for (;;) {
    const generation = generations.liveOf(chain)
    const whileLive = generations.whileLive(chain, generation)
    const checkpoints = await platform.checkpointsFor({ id: generationCheckpoint(source.id, generation) })
    const ingest = createIngest({
      ...{ source, chain, log, codec, checkpoints, status, logger, health, progressMs },
      generationOf: () => generation,
    })
    const outcome = await ingest.run(AbortSignal.any([signal, whileLive])).finally(() => checkpoints.close())
    // What this generation cannot go on with, another may: it is waited for.
    if (outcome.kind === 'failed' && !isTaken(outcome.error)) await abortOf(AbortSignal.any([signal, whileLive]))
    if (signal.aborted || !whileLive.aborted) return outcome
    logger.info('another generation of the chain is live, going on in it', { chain, was: generation })
  }
}

/** Another process reads this chain now. */
const isTaken = (error: unknown): boolean => error instanceof DextapeError && error.code === 'source_taken'

function fail(status: IngestStatus, error: unknown, logger: Logger): IngestOutcome {
  if (error instanceof ConfigError) throw error
  status.state = 'failed'
  status.error = described(error)
  logger.error('a chain is not read', { chain: status.chain, code: status.error.code, error: status.error.message })
  return { kind: 'failed', error }
}

/** Waits for the first answers; a mistake in the configuration ends the start. */
async function firstOf(chains: readonly ChainIngest[], patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<[]>((resolve) => {
    timer = setTimeout(() => resolve([]), patienceMs)
  })
  const answers = await Promise.race([Promise.all(chains.map(({ opened }) => opened)), patience])
  clearTimeout(timer)
  for (const answer of answers)
    if (answer !== undefined && 'failed' in answer && answer.failed instanceof ConfigError) throw answer.failed
}
