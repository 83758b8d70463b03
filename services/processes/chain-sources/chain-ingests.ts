/** Every chain read from its nodes, each on its own: one that cannot go on is told, and the others do. */

import type { ChainSourceConfig } from '../../core/config/index.js'
import type { Health } from '../../core/runtime/health.js'
import { type IngestParts, type Ingests, openChainIngest } from './chain-ingest.js'
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

export function createChainHealth(health: Health): (chain: string) => Health {
  const away = new Map<string, string>()
  const told = () => [...away].map(([chain, reason]) => `${chain}: ${reason}`).join('; ')
  return (chain) => ({
    ...health,
    away(part, reason) {
      if (part !== 'source') return health.away(part, reason)
      away.set(chain, reason)
      health.away(part, told())
    },
    ok(part) {
      if (part !== 'source') return health.ok(part)
      if (!away.delete(chain)) return
      if (away.size === 0) health.ok(part)
      else health.away(part, told())
    },
  })
}
