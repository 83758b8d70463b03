/** The thread of `up` that reads its sources into the log. */

import type { ChainSourceConfig } from '../../core/config/index.js'
import type { ServiceReport } from '../../core/coordination/service-reports.js'
import type { EventLog } from '../../core/log/port.js'
import { createTracer } from '../../core/runtime/tracing.js'
import type { IngestOutcome } from '../../ingest/main.js'
import type { Speed } from '../../ingest/sources/recording/recording.js'
import type { OpenChain } from '../chain-sources/open-chain.js'
import { openIngests } from '../chain-sources/open-ingests.js'
import { reportedChains } from '../chain-status.js'
import type { ChosenSource, ExamplePair } from '../choose-source.js'
import { type ReportMethods, runThread, sendChanges, type ThreadData, type ThreadMethods } from './thread-parts.js'

export type IngestData = ThreadData & {
  source: ChosenSource
  speed: Speed
  /** A module whose `openChain` replaces how the nodes of a chain are opened. */
  openFrom: string | undefined
}

export type IngestMethods = ThreadMethods & {
  /** Opens the sources; fails if one is misconfigured. */
  open(): { source: string | undefined; example: ExamplePair | undefined }
  /** While paused, blocks are read but not appended. */
  pause(isPaused: boolean): void
  /** Reads these chains from now on. */
  change(sources: readonly ChainSourceConfig[]): void
  /** Resolves when all sources have ended. */
  run(): Promise<IngestOutcome['kind']>
}

export type IngestMain = ReportMethods & { history(done: number): void }

function createGate(signal: AbortSignal) {
  let open = () => {}
  let opened = Promise.resolve()
  let isClosed = false
  signal.addEventListener('abort', () => open(), { once: true })
  return {
    opened: () => opened,
    set(shouldClose: boolean): void {
      if (shouldClose === isClosed) return
      isClosed = shouldClose
      if (!shouldClose) return open()
      opened = new Promise((resolve) => {
        open = resolve
      })
    },
  }
}

runThread<IngestData, IngestMain, Omit<IngestMethods, keyof ThreadMethods>>(async (parts) => {
  const { data, main, platform, logger, metrics, health, dir, closing, signal } = parts
  const { config, source, speed, openFrom } = data
  const open = openFrom === undefined ? undefined : ((await import(openFrom)) as { openChain: OpenChain }).openChain
  const tracer = createTracer(config.tracing, { service: 'ingest', logger, metrics })
  closing.push(async () => tracer?.close())
  const gate = createGate(signal)
  const append: EventLog['append'] = async (topic, entries) => {
    await gate.opened()
    return platform.log.append(topic, entries)
  }
  const ingests = await openIngests(
    source,
    {
      ...{
        platform: { ...platform, log: { ...platform.log, append } },
        config,
        logger,
        health,
        metrics,
        dataDir: dir(),
        speed,
        open,
        tracer,
      },
      onHistory: (done) => main.tell('history', done),
    },
    closing,
    signal,
  )
  const statuses = ingests?.statuses ?? []
  sendChanges<ServiceReport>(
    () => ({ service: 'ingest', away: health.report(), chains: statuses.flatMap(reportedChains) }),
    (report) => main.tell('report', report),
    signal,
  )
  let running: Promise<IngestOutcome['kind']> | undefined
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(running?.then(() => {}).catch(() => {})), { once: true })
  })
  return {
    ended,
    pause: gate.set,
    change: (sources) => ingests?.change?.(sources),
    open: () => ({ source: statuses[0]?.source, example: ingests?.example }),
    async run() {
      running ??= (ingests?.run(signal) ?? Promise.resolve({ kind: 'done' as const })).then(({ kind }) => kind)
      return running
    },
  }
})
