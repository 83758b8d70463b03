/** A chain's nodes as a source. */
import { join } from 'node:path'
import type { DataDir, EvmSourceConfig } from '../../core/config/index.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Source } from '../../ingest/source.js'
import { registerEndpointMetrics } from '../../ingest/sources/evm/endpoint-metrics.js'
import { openEvmSource } from '../../ingest/sources/evm/open.js'

export type OpenChainOptions = {
  config: EvmSourceConfig
  facts: ChainFacts
  /** Where facts about tokens and pools are kept. */
  dataDir: DataDir
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

export const openChain: OpenChain = async ({ config, facts, dataDir, logger, metrics, progressMs, signal }) => {
  const bookPath = join(dataDir.path, 'chains', config.chain)
  const { source, endpoints } = await openEvmSource({ config, facts, bookPath, logger, progressMs, signal })
  registerEndpointMetrics(metrics, config.chain, endpoints)
  return source
}
