/** `dextape up`: ingest, aggregate and serve in one process, on whatever log and store the configuration names. */
import { join } from 'node:path'
import { openStateStore } from '../aggregate/checkpoint/state-store.js'
import { createAggregate } from '../aggregate/main.js'
import {
  type Config,
  chainFacts,
  claimOrigin,
  type DataDir,
  lockDataDir,
  openDataDir,
  openKeyStore,
} from '../core/config/index.js'
import { createHealth, type Health } from '../core/runtime/health.js'
import type { Logger } from '../core/runtime/logger.js'
import { createMetrics } from '../core/runtime/metrics.js'
import { checkPortFree } from '../core/runtime/ports.js'
import { createShutdown, type Shutdown } from '../core/runtime/shutdown.js'
import { openStore, type StoreOptions } from '../core/store/clickhouse.js'
import { serveEngine } from '../core/store/engine-socket.js'
import { enginePathOf, socketPathOf } from '../core/store/local.js'
import type { Store } from '../core/store/port.js'
import { openCheckpoints } from '../ingest/checkpoints.js'
import { createIngest, type Ingest } from '../ingest/main.js'
import type { Source } from '../ingest/source.js'
import { registerIngestMetrics } from '../ingest/status.js'
import { type OpenLog, openLog } from './open-log.js'
import type { RunUp } from './run-commands.js'
import { runChains } from './up/chains.js'
import { greet } from './up/greeting.js'
import { createHistoryWatch } from './up/history.js'
import { loadServe } from './up/load-serve.js'
import { type Choice, chooseSource, openSource } from './up/source.js'
import { pipeStatusOf, registerFoldMetrics } from './up/status.js'
import { claimStore } from './up/store-origin.js'

type UpOptions = Parameters<RunUp>[0]

export const runUp: RunUp = async (options) => {
  const { config, logger } = options
  const createServe = await loadServe()
  await checkPortFree(config.host, config.httpPort, 'DEXTAPE_HTTP_PORT')
  await checkPortFree(config.host, config.wsPort, 'DEXTAPE_WS_PORT')
  const choice = chooseSource(config, options.source)
  const dir = openDataDir(choice.dataDir)
  const lock = lockDataDir(dir)
  const shutdown = createShutdown(logger)
  const closing: (() => Promise<void> | void)[] = [() => shutdown.done(), () => lock.release()]
  try {
    claimOrigin(dir, choice.claim)
    return await runServices(options, choice, createServe, dir, shutdown, closing)
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

/** Starts the parts in the order of the pipe's end to its start; what is pushed to `closing` is closed in reverse. */
async function runServices(
  { config, logger, out, speed }: UpOptions,
  choice: Choice,
  createServe: Awaited<ReturnType<typeof loadServe>>,
  dir: DataDir,
  shutdown: Shutdown,
  closing: (() => Promise<void> | void)[],
): Promise<number> {
  const health = createHealth({ parts: ['log', 'store'], logger })
  const opened = openLog(config, dir)
  closing.push(() => opened.log.close())
  const store = await openConfiguredStore(config, dir, health, shutdown, closing)
  const keys = openKeyStore(dir)
  closing.push(() => keys.close())
  const firstKey = await keys.ensureFirst()
  const metrics = createMetrics()
  const watch = createHistoryWatch(out)
  const source = await openSource(choice.source, { config, logger, speed, onHistory: watch.onHistory }, dir)
  const ingest =
    source === undefined ? null : openIngest(source.source, { config, logger, health }, opened, dir, closing)
  const aggregate = createAggregate({
    ...{ ...opened, store, logger, nowMs: Date.now },
    openState: (chain) => openStateStore(join(dir.statePath, chain)),
    factsOf: (chain) => chainFacts(config, chain),
    settings: {
      ...config.fold,
      ...{ flushEveryMs: config.intervals.flushMs, flushRows: FLUSH_ROWS },
      checkpointEveryMs: config.intervals.checkpointMs,
      publishTrades: config.topics.trades,
      deadKeptMs: config.retention.deadMs,
      ...{ updatesKeptMs: config.retention.updatesMs, secondCandlesKeptS: config.retention.s1CandlesMs / 1000 },
    },
  })
  if (ingest !== null) registerIngestMetrics(metrics, ingest.status)
  registerFoldMetrics(metrics, aggregate)
  const pipeStatus = pipeStatusOf(aggregate, ingest?.status, Date.now)
  const simulated = choice.claim.origin === 'simulated'
  const prepare = async () => {
    await store.migrate()
    await claimStore(store, choice.claim.origin)
  }
  const serve = createServe({
    ...{ ...opened, store, keys, config, logger, metrics, health, where: 'up' },
    ...{ prepare, pipeStatus, simulated },
  })
  closing.push(() => serve.stop())
  const ports = await serve.start(shutdown.signal)
  if (shutdown.signal.aborted) return 0

  const chains = runChains(aggregate, opened.log, config, logger, shutdown)
  const ingesting = ingest?.run(shutdown.signal)
  if (simulated) await watch.untilLive(serve, shutdown.signal)
  await greet(out, {
    ...{ config, ports, choice, dataDir: dir.path },
    firstKey: firstKey?.key,
    example: source?.example,
  })
  const outcome = await ingesting
  if (outcome?.kind === 'done')
    logger.info('the source is played to its end; serving goes on', { source: ingest?.status.source })
  if (outcome?.kind === 'failed') shutdown.stop('ingest failed')
  const failure = await chains
  return outcome?.kind === 'failed' || failure !== undefined ? 1 : 0
}

/** The store's own number for a good insert: large enough to be quick, small enough for memory. */
const FLUSH_ROWS = 50_000

/** After the signal to stop, what is folded is still stored; a store that is away then is waited for this long. */
const STORE_STOP_MS = 3000

async function openConfiguredStore(
  config: Config,
  dir: DataDir,
  health: Health,
  shutdown: Shutdown,
  closing: (() => Promise<void> | void)[],
): Promise<Store> {
  const giveUp = new AbortController()
  shutdown.signal.addEventListener('abort', () => setTimeout(() => giveUp.abort(), STORE_STOP_MS).unref(), {
    once: true,
  })
  const options: StoreOptions = { signal: giveUp.signal, ...health.presenceOf('store') }
  if (config.store.kind === 'clickhouse') {
    const store = await openStore({ kind: 'server', url: config.store.url }, options)
    closing.push(() => store.close())
    return store
  }
  const store = await openStore({ kind: 'embedded', path: enginePathOf(dir.path) }, options)
  closing.push(() => store.close())
  const engine = await serveEngine(enginePathOf(dir.path), socketPathOf(dir.path))
  closing.push(() => engine.close())
  return store
}

function openIngest(
  source: Source,
  { config, logger, health }: { config: Config; logger: Logger; health: Health },
  { log, codec }: OpenLog,
  dir: DataDir,
  closing: (() => Promise<void> | void)[],
): Ingest {
  const checkpoints = openCheckpoints(dir)
  closing.push(() => checkpoints.close())
  return createIngest({ source, log, codec, checkpoints, logger, health, progressMs: config.intervals.progressMs })
}
