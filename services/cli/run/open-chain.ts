/** A chain's nodes as a source. */
import type { DataDir, EvmSourceConfig } from '../../core/config/index.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import { DextapeError } from '../../core/domain/errors.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Source } from '../../ingest/source.js'

export type OpenChainOptions = {
  config: EvmSourceConfig
  facts: ChainFacts
  /** Where facts about tokens and pools are kept. */
  dataDir: DataDir
  logger: Logger
  metrics: Metrics
  signal: AbortSignal
}

/**
 * Tried again after a failure that may pass. A `ConfigError` (nodes of another chain, a token that is not there) ends the start;
 * any other failure stops this chain alone.
 */
export type OpenChain = (options: OpenChainOptions) => Promise<Source>

export const openChain: OpenChain = async ({ config: { chain } }) => {
  throw new DextapeError({ code: 'source_unsupported', what: 'Nodes cannot be read yet', where: { chain } })
}
