/** `dextape up`: ingest, aggregate and serve in one process, on the configured log and store. */
import { type DataDir, openDataDir } from '../core/data-dir/data-dir.js'
import { lockDataDir } from '../core/data-dir/lock.js'
import { readWsTokenSecret } from '../core/keys/private-files.js'
import { collectAfterBusyPhases } from '../core/runtime/idle-heap.js'
import { createMetrics } from '../core/runtime/metrics.js'
import { createHealth } from '../core/runtime/part-health.js'
import { checkPortFree } from '../core/runtime/ports.js'
import { createShutdown, type Shutdown } from '../core/runtime/shutdown.js'
import { createServe } from '../serve/main.js'
import { openIngests } from './chain-sources/open-ingests.js'
import { pipeStatusOf } from './chain-status.js'
import { type Choice, chooseSource } from './choose-source.js'
import { openFold, runFold } from './fold-chains.js'
import { createHistoryWatch, greet } from './greeting.js'
import { type Closing, claimStore, openConfiguredStore } from './open-store.js'
import { openPlatform } from './platform/open-platform.js'
import type { RunUp } from './process-options.js'

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

/** Starts the services from the end of the pipeline to its start; `closing` runs in reverse order. */
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
  let flushRows = async () => {}
  const flush = () => flushRows()
  const store = await openConfiguredStore({ ...config, dataDir: dir.path }, health, shutdown, closing, flush)
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
  flushRows = async () => void (await Promise.all(aggregate.status().map(({ chain }) => aggregate.flush(chain))))
  const pipeStatus = pipeStatusOf(aggregate, ingests?.statuses ?? [], Date.now)
  const simulated = choice.claim.origin === 'simulated'
  const prepare = async () => {
    await store.migrate()
    await claimStore(store, choice.claim.origin)
  }
  const serve = createServe({
    ...{ log, codec, store, keys, config, logger, metrics, health, processName: 'up' },
    ...{ prepare, pipeStatus, simulated, wsTokenSecret },
    // A server has short batches, and may be unreachable.
    ...(config.store.kind === 'embedded' ? { flush: aggregate.flush } : {}),
  })
  closing.push(() => serve.stop())
  const ports = await serve.start(shutdown.signal)
  if (shutdown.signal.aborted) return 0

  collectAfterBusyPhases(shutdown.signal)
  const folding = runFold(aggregate, { platform, config, logger }, shutdown)
  const ingesting = ingests?.run(shutdown.signal)
  // The error itself is reported where `ingesting` is awaited, after the greeting.
  ingesting?.catch(() => shutdown.stop('a source is misconfigured'))
  if (choice.source.kind === 'simulator') await watch.untilLive(serve, shutdown.signal)
  await greet(out, {
    ...{ config, ports, firstKey: firstKey?.key, dataDir: dir.path },
    ...{ isSimulated: simulated, hasSource: ingests !== undefined, example: ingests?.example },
  })
  const outcome = await ingesting
  if (outcome?.kind === 'done')
    logger.info('the source has ended; still serving', { source: ingests?.statuses[0]?.source })
  // A failed chain is reported in /status, and its data is still served.
  const hasFailed = outcome?.kind === 'failed' && choice.source.kind !== 'chains'
  if (hasFailed) shutdown.stop('ingest failed')
  const failure = await folding
  return hasFailed || failure !== undefined ? 1 : 0
}
