/** A chain's nodes as a source. */
import { join } from 'node:path'
import type { ChainSourceConfig, DataDir } from '../../core/config/index.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Source } from '../../ingest/source.js'
import { openEvmSource } from '../../ingest/sources/evm/open.js'
import { registerEndpointMetrics } from '../../ingest/sources/nodes/endpoint-metrics.js'
import type { EndpointStatus } from '../../ingest/sources/nodes/status.js'
import { openSolanaSource } from '../../ingest/sources/solana/open.js'

export type OpenChainOptions = {
  config: ChainSourceConfig
  facts: ChainFacts
  /** Where facts about tokens and pools are kept. */
  dataDir: DataDir
  /** What was told on one generation's log was not told on another's. */
  generation: number
  logger: Logger
  metrics: Metrics
  progressMs: number
  signal: AbortSignal
}

/**
 * Tried again after a failure that may pass. A `ConfigError` (nodes of another chain, a token that is not there) ends the start;
 * any other failure stops this chain alone.
 */
export type OpenChain = (options: OpenChainOptions) => Promise<Source>

export const openChain: OpenChain = async (options) => {
  const { config, facts, dataDir, generation, logger, metrics, progressMs, signal } = options
  const { chain } = config
  const bookPath = join(dataDir.path, 'chains', generation === 1 ? chain : `${chain}.g${generation}`)
  const shared = { facts, bookPath, logger, progressMs, signal }
  const { source, endpoints } =
    config.family === 'evm' ? await openEvmSource({ config, ...shared }) : await openSolanaSource({ config, ...shared })
  tellEndpoints(metrics, chain, endpoints)
  return source
}

type Endpoints = () => EndpointStatus[]

/** A chain that is opened again has other connections, and the same metrics. */
const told = new WeakMap<Metrics, Map<string, Endpoints>>()

function tellEndpoints(metrics: Metrics, chain: string, endpoints: Endpoints): void {
  const current = told.get(metrics) ?? new Map<string, Endpoints>()
  told.set(metrics, current)
  const isNew = !current.has(chain)
  current.set(chain, endpoints)
  if (isNew) registerEndpointMetrics(metrics, chain, () => current.get(chain)?.() ?? [])
}
