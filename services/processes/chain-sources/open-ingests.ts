/** Opens what a process reads: one source, or one per chain. */
import type { LiveGenerations } from '../../core/coordination/generations.js'
import { DextapeError } from '../../core/domain/errors.js'
import { registerIngestMetrics } from '../../ingest/ingest-status.js'
import { createIngest } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/recording.js'
import { type ChosenSource, openSource } from '../choose-source.js'
import type { Closing } from '../open-store.js'
import type { IngestParts, Ingests } from './chain-ingest.js'
import { openChainIngests } from './chain-ingests.js'
import { type OpenChain, openChain } from './open-chain.js'

/** A source that cannot resume after an arbitrary block stays on one generation: in another it would skip blocks. */
export function pinnedGenerations({ liveOf }: Pick<LiveGenerations, 'liveOf'>): (chain: string) => number {
  const pinned = new Map<string, number>()
  return (chain) => {
    const live = liveOf(chain)
    const generation = pinned.get(chain) ?? live
    pinned.set(chain, generation)
    if (generation === live) return generation
    throw new DextapeError({
      code: 'generation_changed',
      what: 'Another generation of the chain became live while this source was being written',
      where: { chain },
      fix: 'Start it again: blocks that the new generation already has are skipped.',
    })
  }
}

type OpenOptions = IngestParts & { speed: Speed; onHistory: (done: number) => void; open?: OpenChain | undefined }

/** Undefined: there is no source. */
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
