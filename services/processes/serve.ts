/** `dextape serve`: REST and pushes for all chains, as one of any number of equal nodes. REST has a thread, the main one pushes. */

import { randomBytes } from 'node:crypto'
import type { PublishedReport } from '../core/coordination/service-reports.js'
import type { Claim } from '../core/data-dir/origin.js'
import { createKeyedTable } from '../core/log/keyed-table.js'
import { STATUS_TOPIC } from '../core/log/port.js'
import { chooseLogFormat } from '../core/runtime/logger.js'
import { checkPortFree } from '../core/runtime/ports.js'
import { registerThreadMetrics } from '../core/runtime/process-metrics.js'
import { readCertificate } from '../core/runtime/tls-files.js'
import { assembleServe } from '../serve/assemble.js'
import { createPipeStatus } from '../serve/pipe-status.js'
import { checkPortCanBeShared } from '../serve/push/transport/choose-transport.js'
import { createPush } from '../serve/push-duty.js'
import { runProcess } from './cluster-process.js'
import { greet } from './greeting.js'
import { openConfiguredStore } from './open-store.js'
import type { RunServe } from './process-options.js'
import { createMergedHealth } from './threads/merged-health.js'
import { createRestThread } from './threads/run-rest.js'

const ORIGIN_POLL_MS = 1000

export const runServe: RunServe = async ({ config, logger, out }) => {
  if (config.tls.kind === 'files') readCertificate(config.tls)
  await checkPortFree(config.host, config.httpPort, 'DEXTAPE_HTTP_PORT')
  if (config.wsPortShared) checkPortCanBeShared(config.pushServer)
  else await checkPortFree(config.host, config.wsPort, 'DEXTAPE_WS_PORT')
  return runProcess({ command: 'serve', config, logger, parts: ['log', 'store'] }, async (parts) => {
    const { platform, health, metrics, tracer, shutdown, closing } = parts
    const { signal } = shutdown
    const { log, codec } = platform
    const store = await openConfiguredStore(config, health, signal, closing)
    const keys = platform.createKeys()
    closing.push(() => keys.close())
    const reports = createKeyedTable<PublishedReport>(log, STATUS_TOPIC, { logger })
    const services = () => reports.entries().map(({ value }) => value)
    if (config.wsTokenSecret.kind === 'none')
      logger.warn(
        'WebSocket tokens are valid on this node only; set the same DEXTAPE_WS_TOKEN_SECRET on all serve nodes',
      )
    const wsTokenSecret =
      config.wsTokenSecret.kind === 'fixed' ? config.wsTokenSecret.secret : randomBytes(32).toString('hex')
    let origin: Claim | undefined
    let firstKey: string | undefined
    const isSimulated = () => origin?.origin === 'simulated'
    const where = `serve ${platform.instance}`
    const noteAway = createMergedHealth(health)
    const rest = createRestThread({
      data: {
        config,
        dataDir: config.dataDir,
        logFormat: chooseLogFormat(config.logFormat, process.env, process.stderr),
        wsTokenSecret,
      },
      ...{ logger, isSimulated, services, otherThreads: () => [] },
      away: () => health.report().map((one) => ({ ...one, where })),
      onAway: (away) => {
        noteAway('rest', away)
        rest.changed()
      },
      metricsOfOthers: async () => [await metrics.data()],
      // Rows are stored by the aggregators, in short batches.
      flush: async () => {},
    })
    closing.push(() => rest.stop())
    registerThreadMetrics(metrics, () => [rest.report()])
    reports.onChange(rest.changed)
    const serve = assembleServe(
      {
        ...{ log, codec, store, keys, config, logger, metrics, health, wsTokenSecret, simulated: isSimulated, tracer },
        pushedPositions: rest.pushedPositions,
        pipeStatus: createPipeStatus(services, Date.now).chains,
        async prepare() {
          await store.migrate()
          await keys.load()
          origin = await platform.origin()
          if (config.apiKey.kind === 'none') firstKey ??= (await keys.ensureFirst())?.key
          rest.prepared()
          rest.changed()
        },
      },
      { push: createPush },
    )
    closing.push(() => serve.stop())
    void reports
      .follow(signal)
      .catch((error: unknown) => logger.error('reading statuses of other processes failed', { error }))
    const timer = setInterval(() => {
      void platform
        .origin()
        .then((claimed) => {
          origin = claimed
          if (claimed !== undefined) clearInterval(timer)
          rest.changed()
        })
        .catch(() => {})
    }, ORIGIN_POLL_MS)
    closing.push(() => clearInterval(timer))
    const [{ wsPort }, httpPort] = await Promise.all([
      serve.start(signal).then((ports) => {
        rest.pushes(serve, ports.wsPort)
        return ports
      }),
      rest.opened(signal),
    ])
    if (signal.aborted || httpPort === undefined) return 0
    await greet(out, { config, ports: { httpPort, wsPort }, firstKey, isSimulated: isSimulated() })
    await parts.stopped()
    return 0
  })
}
