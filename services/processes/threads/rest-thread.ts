/** The thread that answers REST requests, from its own memory of the updates and from the store. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { PublishedReport } from '../../core/coordination/service-reports.js'
import type { Repair } from '../../core/data-dir/repairs.js'
import type { DiskReport } from '../../core/runtime/disk-space.js'
import { type MetricsData, mergedMetrics } from '../../core/runtime/metrics.js'
import type { UnreachablePart, UnreachableReport } from '../../core/runtime/part-health.js'
import { assembleServe } from '../../serve/assemble.js'
import { createPipeStatus } from '../../serve/pipe-status.js'
import { createPushedPositions, type PositionCell } from '../../serve/pushed-positions.js'
import { createRest } from '../../serve/rest-duty.js'
import type { PushReport, PushUsage, ThreadReport } from '../../serve/serve-deps.js'
import { openConfiguredStore } from '../open-store.js'
import { runThread, sendChanges, type ThreadData, type ThreadMethods } from './thread-parts.js'

/** What the rest of the process knows, for /status. */
export type ProcessReport = {
  services: readonly PublishedReport[]
  away: UnreachableReport[]
  threads: ThreadReport[]
  repairs: Repair[]
  disk: DiskReport | undefined
  simulated: boolean
  push: PushReport | undefined
  wsPort: number
}

export type RestData = ThreadData & {
  wsTokenSecret: string
  pushed: readonly PositionCell[]
  report: ProcessReport
}

export type RestMethods = ThreadMethods & {
  /** Listens, and resolves with the port once it answers from all data of the log. */
  open(): Promise<number>
  adopt(shared: PositionCell): void
  update(report: ProcessReport): void
}

export type RestMain = {
  /** Resolves once the store's tables exist. */
  prepared(): Promise<void>
  away(parts: readonly UnreachablePart[]): void
  flush(chain: string): Promise<void>
  /** What sockets hold, for /status. */
  pushUsage(): PushUsage | undefined
  /** Of the other threads. */
  metricsOfOthers(): Promise<MetricsData[]>
}

/** /status must answer, whatever the other threads do. */
const USAGE_WAIT_MS = 500

runThread<RestData, RestMain, Omit<RestMethods, keyof ThreadMethods>>(async (parts) => {
  const { data, main, platform, logger, metrics, health, closing, signal } = parts
  const { config, dataDir, wsTokenSecret } = data
  const { log, codec } = platform
  const store = await openConfiguredStore({ ...config, dataDir }, health, signal, closing)
  const keys = platform.createKeys()
  closing.push(() => keys.close())
  const pushedPositions = createPushedPositions()
  for (const shared of data.pushed) pushedPositions.adopt(shared)
  let { report } = data
  const pipe = createPipeStatus(() => report.services, Date.now)
  sendChanges(
    () => health.report(),
    (away) => main.tell('away', away),
    signal,
  )
  const serve = assembleServe(
    {
      ...{ log, codec, store, keys, config, logger, metrics, wsTokenSecret, pushedPositions },
      async prepare() {
        await main.call('prepared')
        await keys.load()
      },
      ...{ pipeStatus: pipe.chains, remoteOutages: () => [...report.away, ...pipe.outages()] },
      ...{ simulated: () => report.simulated, threads: () => report.threads },
      ...{ repairs: () => report.repairs, disk: () => report.disk, replays: pipe.replays },
      ...{ pushReport: () => report.push, wsPort: () => report.wsPort },
      pushUsage: () =>
        Promise.race([main.call('pushUsage').catch(() => undefined), sleep(USAGE_WAIT_MS).then(() => undefined)]),
      metricsText: {
        contentType: metrics.contentType,
        text: async () => mergedMetrics([await metrics.data(), ...(await main.call('metricsOfOthers'))]),
      },
      // A server has short batches, and may be unreachable.
      ...(config.store.kind === 'embedded' ? { flush: (chain: string) => main.call('flush', chain) } : {}),
    },
    { rest: createRest },
  )
  closing.push(() => serve.stop())
  return {
    open: async () => (await serve.start(signal)).httpPort,
    adopt: pushedPositions.adopt,
    update: (changed) => {
      report = changed
    },
  }
})
