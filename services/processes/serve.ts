/** `dextape serve`: REST and pushes for all chains, as one of any number of equal nodes. */

import type { PublishedReport } from '../core/coordination/service-reports.js'
import type { Claim } from '../core/data-dir/origin.js'
import { createKeyedTable } from '../core/log/keyed-table.js'
import { STATUS_TOPIC } from '../core/log/port.js'
import { checkPortFree } from '../core/runtime/ports.js'
import { createServe } from '../serve/main.js'
import { createPipeStatus } from '../serve/pipe-status.js'
import { runProcess } from './cluster-process.js'
import { greet } from './greeting.js'
import { openConfiguredStore } from './open-store.js'
import type { RunServe } from './process-options.js'

const ORIGIN_POLL_MS = 1000

export const runServe: RunServe = async ({ config, logger, out }) => {
  await checkPortFree(config.host, config.wsPort, 'DEXTAPE_WS_PORT')
  return runProcess({ command: 'serve', config, logger, parts: ['log', 'store'] }, async (parts) => {
    const { platform, health, metrics, shutdown, closing } = parts
    const { log, codec } = platform
    const store = await openConfiguredStore(config, health, shutdown.signal, closing)
    const keys = platform.createKeys()
    closing.push(() => keys.close())
    const reports = createKeyedTable<PublishedReport>(log, STATUS_TOPIC, { logger })
    const pipe = createPipeStatus(() => reports.entries().map(({ value }) => value), Date.now)
    if (config.wsTokenSecret.kind === 'none')
      logger.warn(
        'WebSocket tokens are valid on this node only; set the same DEXTAPE_WS_TOKEN_SECRET on all serve nodes',
      )
    let origin: Claim | undefined
    let firstKey: string | undefined
    const prepare = async () => {
      await store.migrate()
      await keys.load()
      origin = await platform.origin()
      if (config.apiKey.kind === 'none') firstKey ??= (await keys.ensureFirst())?.key
    }
    const serve = createServe({
      ...{ log, codec, store, keys, config, logger, metrics, health, prepare },
      ...(config.wsTokenSecret.kind === 'fixed' ? { wsTokenSecret: config.wsTokenSecret.secret } : {}),
      processName: `serve ${platform.instance}`,
      ...{ pipeStatus: pipe.chains, remoteOutages: pipe.outages },
      simulated: () => origin?.origin === 'simulated',
    })
    closing.push(() => serve.stop())
    void reports
      .follow(shutdown.signal)
      .catch((error: unknown) => logger.error('reading statuses of other processes failed', { error }))
    const timer = setInterval(() => {
      void platform
        .origin()
        .then((claimed) => {
          origin = claimed
          if (claimed !== undefined) clearInterval(timer)
        })
        .catch(() => {})
    }, ORIGIN_POLL_MS)
    closing.push(() => clearInterval(timer))
    const ports = await serve.start(shutdown.signal)
    if (shutdown.signal.aborted) return 0
    await greet(out, { config, ports, firstKey, isSimulated: origin?.origin === 'simulated' })
    await parts.stopped()
    return 0
  })
}
