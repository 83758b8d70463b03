/** What a process reads: one source, or one for each chain. */
import type { LiveGenerations } from '../../core/coordination/generations.js'
import { DextapeError } from '../../core/domain/errors.js'
import { registerIngestMetrics } from '../../ingest/ingest-status.js'
import { createIngest } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/recording.js'
import { type ChosenSource, openSource } from '../choose-source.js'
import type { Closing } from '../open-store.js'
import { openChainIngests } from './chain-ingests.js'
import type { IngestParts, Ingests } from './ingest-parts.js'
import { type OpenChain, openChain } from './open-chain.js'

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
