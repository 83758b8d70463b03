/** Every chain read from its nodes, each on its own: one that cannot go on is told, and the others do. */
import type { ChainSourceConfig } from '../../core/config/index.js'
import { createChainHealth } from './chain-health.js'
import { openChainIngest } from './chain-ingest.js'
import type { IngestParts, Ingests } from './ingest-parts.js'
import type { OpenChain } from './open-chain.js'

export type ChainIngestsOptions = IngestParts & {
  open: OpenChain
  /** A mistake in the configuration is told before anything else starts, unless the nodes take longer than this to answer. */
  patienceMs?: number
}

const PATIENCE_MS = 10_000

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
      // While one chain is read the process has something to do.
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
