/** Reads every chain from its nodes, independently: one that fails is reported, and the others continue. */

import type { ChainSourceConfig } from '../../core/config/index.js'
import type { Health } from '../../core/runtime/part-health.js'
import { type IngestParts, type Ingests, openChainIngest } from './chain-ingest.js'
import type { OpenChain } from './open-chain.js'

export type ChainIngestsOptions = IngestParts & {
  open: OpenChain
  /** How long a start waits for the nodes, so that a configuration error is reported before anything else starts. */
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
