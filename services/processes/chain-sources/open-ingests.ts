/** Opens what a process reads: one source, or one per chain. */
import type { ChainSourceConfig } from '../../core/config/index.js'
import type { LiveGenerations } from '../../core/coordination/generations.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { Health } from '../../core/runtime/part-health.js'
import { createStageLatency } from '../../core/runtime/stage-latency.js'
import { registerIngestMetrics } from '../../ingest/ingest-status.js'
import { createIngest } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/recording.js'
import type { ChosenSource } from '../choose-source.js'
import type { Closing } from '../open-store.js'
import { type IngestParts, type Ingests, openChainIngest } from './chain-ingest.js'
import { type OpenChain, openChain } from './open-chain.js'
import { openSource } from './open-source.js'

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

/** Undefined: no source. */
export async function openIngests(
  chosen: ChosenSource,
  options: OpenOptions,
  closing: Closing,
  signal: AbortSignal,
): Promise<Ingests | undefined> {
  if (chosen.kind === 'none') return undefined
  if (chosen.kind === 'chains')
    return openChainIngests(chosen.sources, { ...options, open: options.open ?? openChain }, signal)
  const { platform, config, logger, health, metrics, tracer } = options
  const { source, example } = await openSource(chosen, options)
  const checkpoints = await platform.checkpointsFor(source)
  closing.push(() => checkpoints.close())
  await platform.generations.load()
  const { log, codec } = platform
  const { progressMs } = config.intervals
  const generationOf = pinnedGenerations(platform.generations)
  const latency = createStageLatency(metrics)
  const ingest = createIngest({
    ...{ source, log, codec, checkpoints, generationOf, logger, health, progressMs, latency, tracer },
  })
  registerIngestMetrics(metrics, ingest.status)
  return { statuses: [ingest.status], run: ingest.run, example }
}

export type ChainIngestsOptions = IngestParts & {
  open: OpenChain
  /** How long a start waits for the nodes, so that a configuration error is reported before anything else starts. */
  patienceMs?: number
}

const PATIENCE_MS = 10_000

/** Reads every chain from its nodes, independently: one that fails is reported, and the others continue. */
export async function openChainIngests(
  configs: readonly ChainSourceConfig[],
  options: ChainIngestsOptions,
  signal: AbortSignal,
): Promise<Ingests> {
  const healthOf = createChainHealth(options.health)
  const chains = configs.map((config) => openChainIngest(config, options, healthOf(config.chain), signal))
  await within(Promise.all(chains.map(({ answered }) => answered)), options.patienceMs ?? PATIENCE_MS)
  return {
    statuses: chains.map(({ status }) => status),
    async run(until) {
      const outcomes = await Promise.all(chains.map((chain) => chain.run(until)))
      const failed = outcomes.find(({ kind }) => kind === 'failed')
      // The process continues while any chain is read.
      if (failed !== undefined && outcomes.every(({ kind }) => kind === 'failed')) return failed
      return { kind: until.aborted ? 'stopped' : 'done' }
    },
  }
}

async function within(work: Promise<unknown>, patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patienceMs)
  })
  await Promise.race([work, patience]).finally(() => clearTimeout(timer))
}

/** Merges the sources of several chains into the one part `source`: unreachable while any of them is. */
export function createChainHealth(health: Health): (chain: string) => Health {
  const unreachable = new Map<string, string>()
  const reasons = () => [...unreachable].map(([chain, reason]) => `${chain}: ${reason}`).join('; ')
  return (chain) => ({
    ...health,
    markUnreachable(part, reason) {
      if (part !== 'source') return health.markUnreachable(part, reason)
      unreachable.set(chain, reason)
      health.markUnreachable(part, reasons())
    },
    markReachable(part) {
      if (part !== 'source') return health.markReachable(part)
      if (!unreachable.delete(chain)) return
      if (unreachable.size === 0) health.markReachable(part)
      else health.markUnreachable(part, reasons())
    },
  })
}
