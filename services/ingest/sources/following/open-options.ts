import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Logger } from '../../../core/runtime/logger.js'

/** What opening a chain of any family takes. */
export type OpenSourceOptions<Config> = {
  config: Config
  facts: ChainFacts
  /** A folder of this chain's and generation's own. */
  bookPath: string
  logger: Logger
  progressMs: number
  signal: AbortSignal
  nowMs?: () => number
}
