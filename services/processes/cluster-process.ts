/** What every process of a cluster has: its platform, a status port and an orderly shutdown. */

import type { Config } from '../core/config/index.js'
import { publishStatus, type ServiceReport } from '../core/coordination/service-reports.js'
import { openDataDir } from '../core/data-dir/data-dir.js'
import { ConfigError } from '../core/domain/errors.js'
import { abortOf } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import { createMetrics, type Metrics } from '../core/runtime/metrics.js'
import { createOpsServer, type OpsDeps } from '../core/runtime/ops-server.js'
import { createHealth, type Health, type Part, registerHealthMetrics } from '../core/runtime/part-health.js'
import { registerProcessMetrics } from '../core/runtime/process-metrics.js'
import { createShutdown, type Shutdown } from '../core/runtime/shutdown.js'
import { createTracer, type Tracer } from '../core/runtime/tracing.js'
import type { Closing } from './open-store.js'
import { openPlatform } from './platform/open-platform.js'
import type { Platform } from './platform/platform.js'
import { watchProcess } from './watch-process.js'

export type ProcessParts = {
  platform: Platform
  health: Health
  metrics: Metrics
  tracer: Tracer | undefined
  shutdown: Shutdown
  /** Called in reverse order at the end. */
  closing: Closing
  /** Starts serving /health, /ready, /status and /metrics; resolves with the port. */
  serveStatus(about: Pick<OpsDeps, 'isReady'> & { status: () => object }): Promise<number>
  /** Starts publishing its status to the serve nodes. */
  publishStatus(report: () => ServiceReport): void
  /** Resolves when the process is asked to stop. */
  stopped(): Promise<void>
}

export type ProcessOptions = { command: ClusterCommand; config: Config; logger: Logger; parts: readonly Part[] }

/** Resolves with the exit code. */
export async function runProcess(
  { command, config, logger, parts }: ProcessOptions,
  run: (parts: ProcessParts) => Promise<number>,
): Promise<number> {
  assertCluster(config, command)
  const shutdown = createShutdown(logger)
  const closing: Closing = [watchProcess({ config, logger }, shutdown.signal), () => shutdown.done()]
  try {
    const health = createHealth({ parts, logger })
    const metrics = createMetrics()
    // The status ports of ingest and aggregate have no certificate.
    const tls = command === 'serve' && config.tls.kind === 'files' ? config.tls : undefined
    registerProcessMetrics(metrics, command, tls)
    const tracer = createTracer(config.tracing, { service: command, logger, metrics })
    closing.push(async () => tracer?.close())
    const dir = () => openDataDir(config.dataDir)
    const platform = await openPlatform({ config, dir, logger, health, signal: shutdown.signal })
    closing.push(() => platform.close())
    return await run({
      ...{ platform, health, metrics, tracer, shutdown, closing },
      async serveStatus({ isReady, status }) {
        registerHealthMetrics(metrics, health)
        const fullStatus = () => ({ service: command, instance: platform.instance, away: health.report(), ...status() })
        const server = createOpsServer({ isReady, status: fullStatus, metrics, logger })
        const port = await server.listen(config.host, config.httpPort)
        closing.push(() => server.close())
        return port
      },
      publishStatus(report) {
        const { instance } = platform
        void publishStatus(platform.log, { instance, report, logger }, shutdown.signal)
      },
      stopped: () => abortOf(shutdown.signal),
    })
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

export type ClusterCommand = 'ingest' | 'aggregate' | 'serve'

export function assertCluster({ log, store }: Pick<Config, 'log' | 'store'>, command: ClusterCommand): void {
  if (log.kind !== 'kafka')
    throw new ConfigError({
      code: 'cluster_needs_kafka',
      what: `\`dextape ${command}\` needs Kafka: it is one process of a cluster`,
      fix: 'Set KAFKA_BROKERS (to start a local broker: `node infra/kafka/broker.mjs start`), or run `dextape up` instead.',
    })
  if (command !== 'ingest' && store.kind !== 'clickhouse')
    throw new ConfigError({
      code: 'cluster_needs_clickhouse',
      what: `\`dextape ${command}\` needs ClickHouse: the embedded store cannot be shared between processes`,
      fix: 'Set CLICKHOUSE_URL, or run `dextape up` instead.',
    })
}
