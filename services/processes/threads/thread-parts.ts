/** What every thread has: its platform, its store, a logger, and an orderly end when the process asks for it. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../../core/config/index.js'
import type { ServiceReport } from '../../core/coordination/service-reports.js'
import { type DataDir, openDataDir } from '../../core/data-dir/data-dir.js'
import type { Damage, Repair } from '../../core/data-dir/repairs.js'
import { collectAfterBusyPhases } from '../../core/runtime/idle-heap.js'
import { createLogger, type LogFormat, type Logger, silentLogger } from '../../core/runtime/logger.js'
import { heapLimit, warnNearMemoryLimits } from '../../core/runtime/memory-limits.js'
import { createMetrics, type Metrics, type MetricsData } from '../../core/runtime/metrics.js'
import { createHealth, type Health } from '../../core/runtime/part-health.js'
import { watchEventLoop } from '../../core/runtime/watchdog.js'
import type { Closing } from '../open-store.js'
import { openPlatform } from '../platform/open-platform.js'
import type { Platform } from '../platform/platform.js'
import { type Link, type Methods, openLink } from './thread-link.js'

/** What a thread is started with. */
export type ThreadData = { config: Config; dataDir: string; logFormat: LogFormat }

/** What the main thread answers. */
export type ReportMethods = {
  /** The service's status, whenever it changes. */
  report(report: ServiceReport): void
  /** Something was damaged and is being repaired, until the chains are stored up to these blocks. */
  damage(damage: Damage, until: Repair['until']): void
  stopProcess(reason: string): void
}

/** What every thread answers. */
export type ThreadMethods = { stop(): Promise<void>; metrics(): Promise<MetricsData> }

export type ThreadParts<Data extends ThreadData, Main extends Methods> = {
  data: Data
  main: Link<Main>
  /** Only where the platform has a data directory. */
  dir: () => DataDir
  platform: Platform
  logger: Logger
  metrics: Metrics
  /** Reported to the main thread, which logs it once for all threads. */
  health: Health
  closing: Closing
  /** Aborts when the thread must end. */
  signal: AbortSignal
}

/** `mine` is what this thread answers; each runs once the thread is open. */
export function runThread<Data extends ThreadData, Main extends Methods, Mine extends Methods>(
  open: (parts: ThreadParts<Data, Main>) => Promise<Mine & { ended?: Promise<unknown> }>,
): void {
  const data = workerData as Data & { thread: string }
  const { config, dataDir, logFormat } = data
  const stopping = new AbortController()
  const closing: Closing = []
  const logger = createLogger(logFormat)
  watchEventLoop({ name: data.thread, limitMs: config.watchdogMs, logger })
  warnNearMemoryLimits([heapLimit(data.thread)], logger, stopping.signal)
  const metrics = createMetrics({ processMetrics: false })
  const health = createHealth({ logger: silentLogger })
  if (parentPort === null) throw new Error('runs only as a thread')

  const mine: Methods = {
    async stop() {
      stopping.abort()
      const { ended } = (await opened.catch(() => undefined)) ?? {}
      await ended
      for (const close of closing.reverse()) await close()
    },
    metrics: () => metrics.data(),
  }
  const answering = new Proxy(mine, {
    get: (own, name: string) => own[name] ?? (async (...args: never[]) => (await opened)[name]?.(...args)),
  })
  const main = openLink<Main>(parentPort, answering)
  const opened = begin()
  // Reported to whoever calls.
  opened.catch(() => {})

  async function begin() {
    const dir = () => openDataDir(dataDir)
    const platform = await openPlatform({
      ...{ config, dir, logger, health, signal: stopping.signal, hasThreads: true },
    })
    closing.push(() => platform.close())
    collectAfterBusyPhases(stopping.signal)
    return open({ data, main, dir, platform, logger, metrics, health, closing, signal: stopping.signal })
  }
}

const LOOK_EVERY_MS = 250

/** Sends a value whenever it has changed, until the signal aborts. */
export function sendChanges<T>(read: () => T, send: (value: T) => void, signal: AbortSignal): void {
  let sent = ''
  const look = () => {
    const value = read()
    const text = JSON.stringify(value)
    if (text === sent) return
    sent = text
    send(value)
  }
  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
