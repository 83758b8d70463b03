/** What a process reads: one source, or one for each chain. */
import type { LiveGenerations } from '../../core/cluster/generations.js'
import type { Config, DataDir } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { Health } from '../../core/runtime/health.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import { createIngest, type IngestOutcome } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/pace.js'
import { type IngestStatus, registerIngestMetrics } from '../../ingest/status.js'
import type { Platform } from '../platform/platform.js'
import { openChainIngests } from './chain-ingests.js'
import { type OpenChain, openChain } from './open-chain.js'
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

/** A source that cannot go on after any block writes one generation: moved to another it would leave blocks out. */
export function pinnedGenerations({ liveOf }: Pick<LiveGenerations, 'liveOf'>): (chain: string) => number {
  const pinned = new Map<string, number>()
  return (chain) => {
    const live = liveOf(chain)
    const generation = pinned.get(chain) ?? live
    pinned.set(chain, generation)
    if (generation === live) return generation
    throw new DextapeError({
      code: 'generation_changed',
      what: 'Another generation of the chain became the live one while this source was written to it',
      where: { chain },
      fix: 'Start it again: what the new generation has already is passed over.',
    })
  }
}

type OpenOptions = IngestParts & { speed: Speed; onHistory: (done: number) => void; open?: OpenChain | undefined }

/** Undefined: nothing is to be read. */
export async function openIngests(
  chosen: ChosenSource,
  options: OpenOptions,
  closing: Closing,
  signal: AbortSignal,
): Promise<Ingests | undefined> {
  if (chosen.kind === 'none') return undefined
  if (chosen.kind === 'chains')
    return openChainIngests(chosen.sources, { ...options, open: options.open ?? openChain }, signal)
  const { platform, config, logger, health, metrics } = options
  const { source, example } = await openSource(chosen, options)
  const checkpoints = await platform.checkpointsFor(source)
  closing.push(() => checkpoints.close())
  await platform.generations.load()
  const { log, codec } = platform
  const { progressMs } = config.intervals
  const generationOf = pinnedGenerations(platform.generations)
  const ingest = createIngest({ source, log, codec, checkpoints, generationOf, logger, health, progressMs })
  registerIngestMetrics(metrics, ingest.status)
  return { statuses: [ingest.status], run: ingest.run, example }
}
