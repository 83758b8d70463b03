/**
 * `dextape up`: ingest, aggregate and serve in one process, on the configured log and store. Reading, folding and REST each have a
 * thread; the main thread pushes, and starts a thread again that ends unexpectedly.
 */
import { type PublishedReport, REPORTS_KEPT_MS } from '../core/coordination/service-reports.js'
import { type DataDir, openDataDir } from '../core/data-dir/data-dir.js'
import { lockDataDir } from '../core/data-dir/lock.js'
import { openRepairs } from '../core/data-dir/repairs.js'
import { readWsTokenSecret } from '../core/keys/private-files.js'
import { createKeyedTable } from '../core/log/keyed-table.js'
import { STATUS_TOPIC } from '../core/log/port.js'
import { collectAfterBusyPhases } from '../core/runtime/idle-heap.js'
import { chooseLogFormat } from '../core/runtime/logger.js'
import { createMetrics } from '../core/runtime/metrics.js'
import { createHealth } from '../core/runtime/part-health.js'
import { checkPortFree } from '../core/runtime/ports.js'
import { registerProcessMetrics } from '../core/runtime/process-metrics.js'
import { createShutdown, type Shutdown } from '../core/runtime/shutdown.js'
import { readCertificate } from '../core/runtime/tls-files.js'
import { createTracer } from '../core/runtime/tracing.js'
import { createStoreFileList, dropStoreFileList } from '../core/store/store-files.js'
import { assembleServe } from '../serve/assemble.js'
import { createPush } from '../serve/push-duty.js'
import { type Choice, chooseSource } from './choose-source.js'
import { createHistoryWatch, greet } from './greeting.js'
import { type Closing, claimStore, openConfiguredStore } from './open-store.js'
import { openPlatform } from './platform/open-platform.js'
import type { RunUp } from './process-options.js'
import { healAtStart, healOpenStore } from './repair/heal-at-start.js'
import { guardMappedFiles } from './threads/guard-mapped-files.js'
import { runChecks } from './threads/run-checks.js'
import { createEngineThread } from './threads/run-engine.js'
import { createThreads } from './threads/threads.js'
import { watchConfig } from './watch-config.js'
import { watchProcess } from './watch-process.js'

type UpOptions = Parameters<RunUp>[0]

export const runUp: RunUp = async (options) => {
  const { config, logger } = options
  if (config.tls.kind === 'files') readCertificate(config.tls)
  await checkPortFree(config.host, config.httpPort, 'DEXTAPE_HTTP_PORT')
  await checkPortFree(config.host, config.wsPort, 'DEXTAPE_WS_PORT')
  const choice = await chooseSource(config, options.source)
  const dir = openDataDir(choice.dataDir)
  const lock = lockDataDir(dir)
  if (lock.replaced !== undefined)
    logger.warn('the last run ended without stopping: it was killed, or a file it used was cut', { pid: lock.replaced })
  const shutdown = createShutdown(logger)
  const closing: Closing = [watchProcess(options, shutdown.signal), () => shutdown.done(), () => lock.release()]
  try {
    return await runServices(options, choice, dir, shutdown, closing)
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

/** `closing` runs in reverse order. */
async function runServices(
  { config, logger, out, speed, openFrom, readAgain }: UpOptions,
  choice: Choice,
  dir: DataDir,
  shutdown: Shutdown,
  closing: Closing,
): Promise<number> {
  const { signal } = shutdown
  // Threads cannot see whether stderr is a terminal.
  const logFormat = chooseLogFormat(config.logFormat, process.env, process.stderr)
  const health = createHealth({ parts: ['log', 'store'], logger })
  const repairs = openRepairs(dir.path, logger)
  const isEmbedded = config.store.kind === 'embedded'
  if (config.log.kind === 'embedded') await healAtStart(dir, { source: choice.source, repairs, logger })
  const platform = await openPlatform({ config, dir: () => dir, logger, health, signal, hasThreads: true })
  closing.push(() => platform.close())
  if (config.log.kind === 'embedded') closing.push(guardMappedFiles(dir, logger))
  await platform.claimOrigin(choice.claim)
  const { log, codec } = platform
  const engine = createEngineThread({ dataDir: dir.path, watchdogMs: config.watchdogMs, logFormat }, logger, {
    flush: () => threads.flush(),
    async append(topic, entries) {
      const first = await log.append(topic, entries)
      if (topic === STATUS_TOPIC) await log.retain(STATUS_TOPIC, REPORTS_KEPT_MS)
      return first
    },
  })
  if (isEmbedded)
    closing.push(async () => {
      await shutdown.awaiting('the engine', engine.stop())
      await createStoreFileList(dir.path).save()
    })
  // The other threads load meanwhile.
  const engineStarted = isEmbedded ? engine.start() : Promise.resolve()
  engineStarted.catch(() => {})
  const store = await openConfiguredStore({ ...config, dataDir: dir.path }, health, signal, closing)
  const keys = platform.createKeys()
  closing.push(() => keys.close())
  await keys.load()
  const firstKey = config.apiKey.kind === 'fixed' ? undefined : await keys.ensureFirst()
  const wsTokenSecret = config.wsTokenSecret.kind === 'fixed' ? config.wsTokenSecret.secret : readWsTokenSecret(dir)
  const metrics = createMetrics()
  registerProcessMetrics(metrics, 'up', config.tls.kind === 'files' ? config.tls : undefined)
  const tracer = createTracer(config.tracing, { service: 'serve', logger, metrics })
  closing.push(async () => tracer?.close())
  const watch = createHistoryWatch(process.stderr, logger)
  const simulated = choice.claim.origin === 'simulated'
  const reports = createKeyedTable<PublishedReport>(log, STATUS_TOPIC, { logger })
  // Of other services only a process of a cluster knows.
  const replayReports = () => reports.entries('replay/').map(({ value }) => value)
  const threads = createThreads({
    data: { config, dataDir: dir.path, logFormat, wsTokenSecret },
    ...{ source: choice.source, speed, openFrom, simulated, logger, health, metrics, repairs },
    otherReports: replayReports,
    ...{ onHistory: watch.onHistory, stopProcess: shutdown.stop, awaiting: shutdown.awaiting },
  })
  const { rest } = threads
  reports.onChange(rest.changed)
  void reports.follow(signal).catch((error: unknown) => logger.error('reading reports of replays failed', { error }))
  closing.push(() => threads.stop())
  signal.addEventListener('abort', () => void threads.stop(), { once: true })
  const [{ source, example }] = await Promise.all([threads.openSources(), engineStarted])

  const serve = assembleServe(
    {
      ...{
        log,
        codec,
        store,
        keys,
        config,
        logger,
        metrics,
        health,
        simulated,
        wsTokenSecret,
        processName: 'up',
        tracer,
      },
      pushedPositions: rest.pushedPositions,
      pipeStatus: threads.pipeStatus,
      async prepare() {
        await store.migrate((_done, pending) => pending > 0 && dropStoreFileList(dir.path))
        if (isEmbedded) await healOpenStore(store, dir, repairs)
        await claimStore(store, choice.claim.origin)
        rest.prepared()
      },
    },
    { push: createPush },
  )
  closing.push(() => serve.stop())
  const [{ wsPort }, httpPort] = await Promise.all([
    serve.start(signal).then((ports) => {
      rest.pushes(serve, ports.wsPort)
      return ports
    }),
    rest.opened(signal),
  ])
  if (signal.aborted || httpPort === undefined) return 0

  let isLogDamaged = false
  if (config.log.kind === 'embedded' && isEmbedded)
    closing.push(
      runChecks({ config, dataDir: dir.path, logFormat }, { logger, metrics }, (found) => {
        isLogDamaged ||= found.part === 'log'
        return threads.repair(found)
      }),
    )
  collectAfterBusyPhases(signal)
  if (choice.source.kind === 'chains' && readAgain !== undefined)
    watchConfig({ config, read: readAgain, change: threads.changeSources, logger, signal })
  const folding = threads.fold()
  const ingesting = threads.ingest()
  // The error itself is reported where `ingesting` is awaited, after the greeting.
  ingesting.catch(() => shutdown.stop('a source is misconfigured'))
  if (choice.source.kind === 'simulator') await watch.untilLive(serve, signal)
  const hasSource = choice.source.kind !== 'none'
  await greet(out, {
    ...{ config, ports: { httpPort, wsPort }, firstKey: firstKey?.key, dataDir: dir.path },
    ...{ isSimulated: simulated, hasSource, example },
  })
  const outcome = hasSource ? await ingesting : undefined
  if (outcome === 'done') logger.info('the source has ended; still serving', { source })
  // A failed chain is reported in /status, and its data is still served.
  const hasFailed = outcome === 'failed' && choice.source.kind !== 'chains'
  if (hasFailed) shutdown.stop('ingest failed')
  const hasFoldFailed = await folding
  return hasFailed || hasFoldFailed || isLogDamaged ? 1 : 0
}
