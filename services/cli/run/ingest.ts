import type { Config } from '../../core/config/index.js'
import type { Health } from '../../core/runtime/health.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics } from '../../core/runtime/metrics.js'
import { createIngest, type Ingest } from '../../ingest/main.js'
import type { Source } from '../../ingest/source.js'
import { registerIngestMetrics } from '../../ingest/status.js'
import type { Platform } from '../platform/platform.js'
import type { Closing } from './open-store.js'

export type IngestParts = { platform: Platform; config: Config; logger: Logger; health: Health; metrics: Metrics }

/** A source on its way to the log, from where it was. */
export async function openIngest(
  source: Source,
  { platform, config, logger, health, metrics }: IngestParts,
  closing: Closing,
): Promise<Ingest> {
  const { log, codec } = platform
  const checkpoints = await platform.checkpointsFor(source)
  closing.push(() => checkpoints.close())
  const { progressMs } = config.intervals
  const ingest = createIngest({ source, log, codec, checkpoints, logger, health, progressMs })
  registerIngestMetrics(metrics, ingest.status)
  return ingest
}
