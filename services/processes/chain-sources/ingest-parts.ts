/** What every ingest of a process is made of, and what they are together. */
import type { Config } from '../../core/config/index.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import type { Health } from '../../core/runtime/part-health.js'
import type { IngestStatus } from '../../ingest/ingest-status.js'
import type { IngestOutcome } from '../../ingest/main.js'
import type { ExamplePair } from '../choose-source.js'
import type { Platform } from '../platform/platform.js'

export type IngestParts = {
  platform: Platform
  config: Config
  logger: Logger
  health: Health
  metrics: Metrics
  dataDir: DataDir
}

export interface Ingests {
  /** Live, one for each source. */
  readonly statuses: readonly IngestStatus[]
  /** Until all have ended or the signal aborts. Throws where a chain's configuration is found wrong. */
  run(signal: AbortSignal): Promise<IngestOutcome>
  /** A pair that trades all the time, where a source knows one. */
  readonly example?: ExamplePair | undefined
}
