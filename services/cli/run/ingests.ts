/** What a process reads: one source, or one for each chain. */
import type { Config, DataDir } from '../../core/config/index.js'
import type { Health } from '../../core/runtime/health.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import { createIngest, type IngestOutcome } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/pace.js'
import { type IngestStatus, registerIngestMetrics } from '../../ingest/status.js'
import type { Platform } from '../platform/platform.js'
import { openChainIngests } from './chain-ingests.js'
import { openChain } from './open-chain.js'
import type { Closing } from './open-store.js'
import { type ChosenSource, type ExamplePair, openSource } from './source.js'

export type IngestParts = {
  platform: Platform
  config: Config
  logger: Logger
  health: Health
  metrics: Metrics
  dataDir: DataDir
}

export interface Ingests {
  /** Live, one for each source. */
  readonly statuses: readonly IngestStatus[]
  /** Until all have ended or the signal aborts. Throws where a chain's configuration is found wrong. */
  run(signal: AbortSignal): Promise<IngestOutcome>
  /** A pair that trades all the time, where a source knows one. */
  readonly example?: ExamplePair | undefined
}

type OpenOptions = IngestParts & { speed: Speed; onHistory: (done: number) => void }

/** Undefined: nothing is to be read. */
export async function openIngests(
  chosen: ChosenSource,
  options: OpenOptions,
  closing: Closing,
  signal: AbortSignal,
): Promise<Ingests | undefined> {
  if (chosen.kind === 'none') return undefined
  if (chosen.kind === 'chains')
    return openChainIngests(chosen.sources, { ...options, open: openChain }, closing, signal)
  const { platform, config, logger, health, metrics } = options
  const { source, example } = await openSource(chosen, options)
  const checkpoints = await platform.checkpointsFor(source)
  closing.push(() => checkpoints.close())
  const { progressMs } = config.intervals
  const ingest = createIngest({ ...platform, source, checkpoints, logger, health, progressMs })
  registerIngestMetrics(metrics, ingest.status)
  return { statuses: [ingest.status], run: ingest.run, example }
}
