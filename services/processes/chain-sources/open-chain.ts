/** Opens the nodes of a chain as a source. */
import { join } from 'node:path'
import type { ChainSourceConfig } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Source } from '../../ingest/source.js'
import { type EndpointStatus, registerEndpointMetrics } from '../../ingest/sources/nodes/endpoint-status.js'
import { registerStreamMetrics, type StreamStatus } from '../../ingest/sources/solana/live-blocks.js'

export type OpenChainOptions = {
  config: ChainSourceConfig
  facts: ChainFacts
  /** Stores facts about tokens and pools. */
  dataDir: DataDir
  /** Each generation has its own book: facts published in one are not in another. */
  generation: number
  logger: Logger
  metrics: Metrics
  progressMs: number
  signal: AbortSignal
}

/**
 * Retried after a temporary failure. A `ConfigError` (nodes of another chain, an unknown token) aborts the start; any other failure
 * stops this chain only.
 */
export type OpenChain = (options: OpenChainOptions) => Promise<Source>

export const bookPathOf = ({ path }: DataDir, chain: string, generation: number): string =>
  join(path, 'chains', generation === 1 ? chain : `${chain}.g${generation}`)

export const openChain: OpenChain = async (options) => {
  const { config, facts, dataDir, generation, logger, metrics, progressMs, signal } = options
  const { chain } = config
  const bookPath = bookPathOf(dataDir, chain, generation)
  const shared = { facts, bookPath, logger, progressMs, signal }
  // Imported when a chain needs them: the decoders take longer to load than everything else of `up`.
  if (config.family === 'evm') {
    const { openEvmSource } = await import('../../ingest/sources/evm/open-evm-source.js')
    const { source, endpoints } = await openEvmSource({ config, ...shared })
    registerMetrics(metrics, chain, { endpoints })
    return source
  }
  const { openSolanaSource } = await import('../../ingest/sources/solana/open-solana-source.js')
  const { source, endpoints, streams } = await openSolanaSource({ config, ...shared })
  registerMetrics(metrics, chain, { endpoints, streams })
  return source
}

type Connections = { endpoints(): EndpointStatus[]; streams?(): StreamStatus[] }

/** A chain that is opened again has new connections but the same metrics. */
const connections = new WeakMap<Metrics, Map<string, Connections>>()

function registerMetrics(metrics: Metrics, chain: string, opened: Connections): void {
  const current = connections.get(metrics) ?? new Map<string, Connections>()
  connections.set(metrics, current)
  const isNew = !current.has(chain)
  current.set(chain, opened)
  if (!isNew) return
  registerEndpointMetrics(metrics, chain, () => current.get(chain)?.endpoints() ?? [])
  if (opened.streams !== undefined) registerStreamMetrics(metrics, chain, () => current.get(chain)?.streams?.() ?? [])
}
