/** Opens what a process reads: one source, or one per chain. */
import { isDeepStrictEqual } from 'node:util'
import type { ChainSourceConfig } from '../../core/config/index.js'
import type { LiveGenerations } from '../../core/coordination/generations.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { Health } from '../../core/runtime/part-health.js'
import { createStageLatency } from '../../core/runtime/stage-latency.js'
import { type IngestStatus, registerIngestMetrics } from '../../ingest/ingest-status.js'
import { createIngest, type IngestOutcome } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/recording.js'
import type { ChosenSource } from '../choose-source.js'
import type { Closing } from '../open-store.js'
import { type ChainIngest, type IngestParts, type Ingests, openChainIngest } from './chain-ingest.js'
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

type OpenedChain = { ingest: ChainIngest; config: ChainSourceConfig | undefined }

/** Reads every chain from its nodes, independently: one that fails is reported, and the others continue. */
export async function openChainIngests(
  configs: readonly ChainSourceConfig[],
  options: ChainIngestsOptions,
  signal: AbortSignal,
): Promise<Ingests> {
  const { logger } = options
  const healthOf = createChainHealth(options.health)
  /** Those no longer read, too: their counts go on when they are read again. */
  const chains = new Map<string, OpenedChain>()
  const statuses: IngestStatus[] = []
  const runs: Promise<IngestOutcome>[] = []
  let running: AbortSignal | undefined

  function open(config: ChainSourceConfig, isStart: boolean): ChainIngest {
    const ingest = openChainIngest(config, { ...options, isStart }, healthOf(config.chain), signal)
    chains.set(config.chain, { ingest, config })
    statuses.push(ingest.status)
    if (running !== undefined) runs.push(ingest.run(running))
    return ingest
  }

  function change(known: OpenedChain, chain: string, config: ChainSourceConfig | undefined): void {
    if (isDeepStrictEqual(known.config, config)) return
    const what = config === undefined ? 'no longer read' : known.config === undefined ? 'read again' : 'scope changed'
    logger.info('configuration of a chain changed', { chain, what })
    if (config === undefined) {
      statuses.splice(statuses.indexOf(known.ingest.status), 1)
      healthOf(chain).markReachable('source')
    } else if (known.config === undefined) statuses.push(known.ingest.status)
    known.config = config
    known.ingest.change(config)
  }

  const tried = configs.map((config) => open(config, true).tried)
  await within(Promise.all(tried), options.patienceMs ?? PATIENCE_MS)
  return {
    statuses,
    change(next) {
      for (const [chain, known] of chains)
        change(
          known,
          chain,
          next.find((config) => config.chain === chain),
        )
      for (const config of next) {
        if (chains.has(config.chain)) continue
        logger.info('configuration of a chain changed', { chain: config.chain, what: 'added' })
        open(config, false)
      }
    },
    async run(until) {
      running = until
      for (const { ingest } of chains.values()) runs.push(ingest.run(until))
      const outcomes = await allOf(runs)
      const failed = outcomes.find(({ kind }) => kind === 'failed')
      // The process continues while any chain is read.
      if (failed !== undefined && outcomes.every(({ kind }) => kind === 'failed')) return failed
      return { kind: until.aborted ? 'stopped' : 'done' }
    },
  }
}

/** Those added meanwhile included. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  for (;;) {
    const results = await Promise.all(promises)
    if (results.length === promises.length) return results
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
