/** `dextape up`: ingest, aggregate and serve in one process, on whatever log and store the configuration names. */
import { type DataDir, openDataDir } from '../core/data-dir/data-dir.js'
import { lockDataDir } from '../core/data-dir/lock.js'
import { readWsTokenSecret } from '../core/keys/private-files.js'
import { createHealth } from '../core/runtime/health.js'
import { createMetrics } from '../core/runtime/metrics.js'
import { checkPortFree } from '../core/runtime/ports.js'
import { createShutdown, type Shutdown } from '../core/runtime/shutdown.js'
import { createServe } from '../serve/main.js'
import { openIngests } from './chain-sources/open-ingests.js'
import { pipeStatusOf } from './chain-status.js'
import { type Choice, chooseSource } from './choose-source.js'
import { openFold, runFold } from './fold-chains.js'
import { greet } from './greeting.js'
import { createHistoryWatch } from './history-watch.js'
import { type Closing, openConfiguredStore } from './open-store.js'
import { openPlatform } from './platform/open.js'
import type { RunUp } from './process-options.js'
import { claimStore } from './store-origin.js'

type UpOptions = Parameters<RunUp>[0]

export const runUp: RunUp = async (options) => {
  const { config, logger } = options
  await checkPortFree(config.host, config.httpPort, 'DEXTAPE_HTTP_PORT')
  await checkPortFree(config.host, config.wsPort, 'DEXTAPE_WS_PORT')
  const choice = await chooseSource(config, options.source)
  const dir = openDataDir(choice.dataDir)
  const lock = lockDataDir(dir)
  const shutdown = createShutdown(logger)
  const closing: Closing = [() => shutdown.done(), () => lock.release()]
  try {
    return await runServices(options, choice, dir, shutdown, closing)
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

/** Starts the parts in the order of the pipe's end to its start; what is pushed to `closing` is closed in reverse. */
async function runServices(
  { config, logger, out, speed, open }: UpOptions,
  choice: Choice,
  dir: DataDir,
  shutdown: Shutdown,
  closing: Closing,
): Promise<number> {
  const health = createHealth({ parts: ['log', 'store'], logger })
  const platform = await openPlatform({ config, dir: () => dir, logger, health, signal: shutdown.signal })
  closing.push(() => platform.close())
  await platform.claimOrigin(choice.claim)
  const { log, codec } = platform
  const store = await openConfiguredStore({ ...config, dataDir: dir.path }, health, shutdown, closing)
  const keys = platform.createKeys()
  closing.push(() => keys.close())
  await keys.load()
  const firstKey = config.apiKey.kind === 'fixed' ? undefined : await keys.ensureFirst()
  const wsTokenSecret = config.wsTokenSecret.kind === 'fixed' ? config.wsTokenSecret.secret : readWsTokenSecret(dir)
  const metrics = createMetrics()
  const watch = createHistoryWatch(out)
  const ingestParts = { platform, config, logger, health, metrics, dataDir: dir, speed, open }
  const ingests = await openIngests(
    choice.source,
    { ...ingestParts, onHistory: watch.onHistory },
    closing,
    shutdown.signal,
  )
  const aggregate = openFold({ platform, store, config, logger, metrics })
  const pipeStatus = pipeStatusOf(aggregate, ingests?.statuses ?? [], Date.now)
  const simulated = choice.claim.origin === 'simulated'
  const prepare = async () => {
    await store.migrate()
    await claimStore(store, choice.claim.origin)
  }
  const serve = createServe({
    ...{ log, codec, store, keys, config, logger, metrics, health, where: 'up' },
    ...{ prepare, pipeStatus, simulated, wsTokenSecret },
  })
  closing.push(() => serve.stop())
  const ports = await serve.start(shutdown.signal)
  if (shutdown.signal.aborted) return 0

  const folding = runFold(aggregate, { platform, config, logger }, shutdown)
  const ingesting = ingests?.run(shutdown.signal)
  // Told where it is awaited, which is after the greeting.
  ingesting?.catch(() => shutdown.stop('a source cannot be read as it is configured'))
  if (choice.source.kind === 'simulator') await watch.untilLive(serve, shutdown.signal)
  await greet(out, {
    ...{ config, ports, firstKey: firstKey?.key, dataDir: dir.path },
    ...{ isSimulated: simulated, hasSource: ingests !== undefined, example: ingests?.example },
  })
  const outcome = await ingesting
  if (outcome?.kind === 'done')
    logger.info('the source is played to its end; serving goes on', { source: ingests?.statuses[0]?.source })
  // Chains that cannot be read on are told in /status, and what they gave is served.
  const isLost = outcome?.kind === 'failed' && choice.source.kind !== 'chains'
  if (isLost) shutdown.stop('ingest failed')
  const failure = await folding
  return isLost || failure !== undefined ? 1 : 0
}
