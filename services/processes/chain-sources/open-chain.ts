/** A chain's nodes as a source. */
import { join } from 'node:path'
import type { ChainSourceConfig } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Source } from '../../ingest/source.js'
import { openEvmSource } from '../../ingest/sources/evm/open-evm-source.js'
import { type EndpointStatus, registerEndpointMetrics } from '../../ingest/sources/nodes/endpoint-status.js'
import type { StreamStatus } from '../../ingest/sources/solana/live-blocks.js'
import { openSolanaSource } from '../../ingest/sources/solana/open.js'
import { registerStreamMetrics } from '../../ingest/sources/solana/stream-metrics.js'

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

export const bookPathOf = ({ path }: DataDir, chain: string, generation: number): string =>
  join(path, 'chains', generation === 1 ? chain : `${chain}.g${generation}`)

export const openChain: OpenChain = async (options) => {
  const { config, facts, dataDir, generation, logger, metrics, progressMs, signal } = options
  const { chain } = config
  const bookPath = bookPathOf(dataDir, chain, generation)
  const shared = { facts, bookPath, logger, progressMs, signal }
  if (config.family === 'evm') {
    const { source, endpoints } = await openEvmSource({ config, ...shared })
    tell(metrics, chain, { endpoints })
    return source
  }
  const { source, endpoints, streams } = await openSolanaSource({ config, ...shared })
  tell(metrics, chain, { endpoints, streams })
  return source
}

type Told = { endpoints(): EndpointStatus[]; streams?(): StreamStatus[] }

/** A chain that is opened again has other connections, and the same metrics. */
const told = new WeakMap<Metrics, Map<string, Told>>()

function tell(metrics: Metrics, chain: string, opened: Told): void {
  const current = told.get(metrics) ?? new Map<string, Told>()
  told.set(metrics, current)
  const isNew = !current.has(chain)
  current.set(chain, opened)
  if (!isNew) return
  registerEndpointMetrics(metrics, chain, () => current.get(chain)?.endpoints() ?? [])
  if (opened.streams !== undefined) registerStreamMetrics(metrics, chain, () => current.get(chain)?.streams?.() ?? [])
}
