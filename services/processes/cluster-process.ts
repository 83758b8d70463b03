/** What every process of a cluster has: its connections to the others, an HTTP port that answers for it, an orderly end. */

import type { Config } from '../core/config/index.js'
import { type ServiceReport, tellStatus } from '../core/coordination/service-reports.js'
import { openDataDir } from '../core/data-dir/data-dir.js'
import { abortOf } from '../core/runtime/backoff.js'
import { createHealth, type Health, type Part, registerHealthMetrics } from '../core/runtime/health.js'
import type { Logger } from '../core/runtime/logger.js'
import { createMetrics, type Metrics } from '../core/runtime/metrics.js'
import { createOpsServer, type OpsDeps } from '../core/runtime/ops-server.js'
import { createShutdown, type Shutdown } from '../core/runtime/shutdown.js'
import { assertCluster, type ClusterCommand } from './cluster-needs.js'
import type { Closing } from './open-store.js'
import { openPlatform } from './platform/open.js'
import type { Platform } from './platform/platform.js'

export type ProcessParts = {
  platform: Platform
  health: Health
  metrics: Metrics
  shutdown: Shutdown
  /** Closed in reverse. */
  closing: Closing
  /** Answers /health, /ready, /status and /metrics from now on; resolves with the port. */
  answer(about: Pick<OpsDeps, 'isReady'> & { status: () => object }): Promise<number>
  /** Tells the serving nodes of itself from now on. */
  tell(report: () => ServiceReport): void
  /** Resolves when the process shall stop. */
  stopped(): Promise<void>
}

export type ProcessOptions = { command: ClusterCommand; config: Config; logger: Logger; parts: readonly Part[] }

/** Runs a process of a cluster to its end; resolves with its exit code. */
export async function runProcess(
  { command, config, logger, parts }: ProcessOptions,
  run: (parts: ProcessParts) => Promise<number>,
): Promise<number> {
  assertCluster(config, command)
  const shutdown = createShutdown(logger)
  const closing: Closing = [() => shutdown.done()]
  try {
    const health = createHealth({ parts, logger })
    const metrics = createMetrics()
    const dir = () => openDataDir(config.dataDir)
    const platform = await openPlatform({ config, dir, logger, health, signal: shutdown.signal })
    closing.push(() => platform.close())
    return await run({
      ...{ platform, health, metrics, shutdown, closing },
      async answer({ isReady, status }) {
        registerHealthMetrics(metrics, health)
        const told = () => ({ service: command, instance: platform.instance, away: health.report(), ...status() })
        const server = createOpsServer({ isReady, status: told, metrics, logger })
        const port = await server.listen(config.host, config.httpPort)
        closing.push(() => server.close())
        return port
      },
      tell(report) {
        const { instance } = platform
        void tellStatus(platform.log, { instance, report, logger }, shutdown.signal)
      },
      stopped: () => abortOf(shutdown.signal),
    })
  } finally {
    for (const close of closing.reverse()) await close()
  }
}
