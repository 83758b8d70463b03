import type { Logger } from '../../core/runtime/logger.js'
import type { KeyGate } from '../keys/gate.js'
import type { ServeMetrics } from '../metrics.js'
import type { OperationContext } from './operation.js'

export type RestDeps = OperationContext & {
  gate: KeyGate
  metrics: ServeMetrics
  logger: Logger
  envelope: 'spec' | 'always'
  /** False until there is something to answer from. */
  isLoaded: () => boolean
}
