/**
 * Reads one chain from its nodes into its live generation, and into the next one when that becomes live. Its nodes and scope may be
 * changed meanwhile.
 */
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
  /** Resolves when its nodes have responded or were unreachable once. Rejects if the configuration is wrong. */
  tried: Promise<void>
  run(signal: AbortSignal): Promise<IngestOutcome>
  /** Continues with other nodes or another scope. Undefined: not at all, until it is changed again. */
  change(config: ChainSourceConfig | undefined): void
}

const MAX_RETRY_DELAY_MS = 10_000

/** With the configuration it was opened with; `unchanged` aborts when that is another. Undefined: stopped before it was opened. */
type Opened =
  | { config: ChainSourceConfig; unchanged: AbortSignal; generation: number; source: Source | { failed: unknown } }
  | undefined

/** `isStart`: a wrong configuration fails the start; later it only stops this chain. */
export function openChainIngest(
  given: ChainSourceConfig,
  parts: Omit<IngestParts, 'health'> & { open: OpenChain; isStart: boolean },
  health: Health,
  signal: AbortSignal,
): ChainIngest {
  const { open, platform, logger, metrics, dataDir } = parts
  const { log, codec, generations } = platform
  const { progressMs } = parts.config.intervals
  const { chain } = given
  const facts = chainFacts(parts.config, chain)
  const status = createStatus(chain, chain)
  chainStatus(status, chain)
  registerIngestMetrics(metrics, status)
  const latency = createStageLatency(metrics)

  let triedInVain: () => void = () => {}
  const unreachable = new Promise<void>((resolve) => {
    triedInVain = resolve
  })

  function onRetry(error: unknown): void {
    status.state = 'retrying'
    status.error = describeError(error)
    health.markUnreachable('source', status.error.message)
    triedInVain()
  }

  let config: ChainSourceConfig | undefined = given
  let changing = new AbortController()
  let isFirst = parts.isStart

  async function openLive(): Promise<Opened> {
    while (!signal.aborted) {
      const { signal: unchanged } = changing
      const asLong = AbortSignal.any([signal, unchanged])
      if (config === undefined) await abortOf(asLong)
      else {
        const opened = await openWith(config, asLong)
        if (opened !== undefined && !asLong.aborted) return { config, unchanged, ...opened }
        if (opened !== undefined && !('failed' in opened.source)) await opened.source.close?.()
      }
    }
    return undefined
  }

  async function openWith(current: ChainSourceConfig, asLong: AbortSignal) {
    await generations.load()
    const generation = generations.liveOf(chain)
    const options = { config: current, facts, dataDir, generation, logger, metrics, progressMs, signal: asLong }
    const backoff = createBackoff({ maxMs: MAX_RETRY_DELAY_MS })
    try {
      const source = await withRetry(() => open(options), backoff, asLong, onRetry)
      return source === undefined ? undefined : { generation, source }
    } catch (failed) {
      if (asLong.aborted) return undefined
      if (failed instanceof ConfigError && isFirst) throw failed
      return { generation, source: { failed } }
    } finally {
      isFirst = false
    }
  }

  async function write(
    { config, generation }: NonNullable<Opened>,
    source: Source,
    until: AbortSignal,
  ): Promise<IngestOutcome> {
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
    tried: Promise.race([first.then(() => {}), unreachable]),
    async run(until) {
      for (let opened = await first; opened !== undefined; opened = await openLive()) {
        const { generation, source, unchanged } = opened
        const whileLive = generations.whileLive(chain, generation)
        const asLong = AbortSignal.any([until, whileLive, unchanged])
        const outcome = 'failed' in source ? fail(source.failed) : await write(opened, source, asLong)
        // Another generation or configuration may succeed where this one failed: wait for it.
        if (outcome.kind === 'failed' && !isTakenOver(outcome.error)) await abortOf(asLong)
        if (until.aborted || (!whileLive.aborted && !unchanged.aborted)) return outcome
        if (whileLive.aborted) logger.info('switching to another generation', { chain, from: generation })
      }
      return { kind: 'stopped' }
    },
    change(next) {
      config = next
      status.state = 'starting'
      delete status.error
      const before = changing
      changing = new AbortController()
      before.abort()
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
  /** Where chains are read from nodes: reads these from now on, with their nodes and scopes. */
  change?(configs: readonly ChainSourceConfig[]): void
  /** A pair that trades all the time, if a source knows one. */
  readonly example?: ExamplePair | undefined
}
