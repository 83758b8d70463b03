/** The threads of `up`, and what they tell each other through the main one. */
import { setFlagsFromString } from 'node:v8'
import type { Config } from '../../core/config/index.js'
import type { PublishedReport, ServiceReport } from '../../core/coordination/service-reports.js'
import { abortOf } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics, MetricsData } from '../../core/runtime/metrics.js'
import type { Health, Part } from '../../core/runtime/part-health.js'
import type { Serve } from '../../serve/main.js'
import { createPipeStatus } from '../../serve/pipe-status.js'
import { createPushedPositions, type PositionCell } from '../../serve/pushed-positions.js'
import type { PushReport, PushUsage } from '../../serve/serve-deps.js'
import type { FoldMethods } from './fold-thread.js'
import type { IngestData, IngestMain, IngestMethods } from './ingest-thread.js'
import type { ProcessReport, RestData, RestMain, RestMethods } from './rest-thread.js'
import { superviseThread } from './supervised-thread.js'
import type { ReportMethods, ThreadData } from './thread-parts.js'

export type ThreadsDeps = Pick<IngestData, 'source' | 'speed' | 'openFrom'> &
  Pick<RestData, 'simulated' | 'wsTokenSecret'> & {
    config: Config
    dataDir: string
    logger: Logger
    health: Health
    metrics: Metrics
    onHistory: (done: number) => void
    stopProcess: (reason: string) => void
  }

/** The young generation of a heap takes three times a semi-space: the fold, which makes the most garbage, has the largest. */
const YOUNG_MB = { fold: 192, ingest: 96, rest: 48 }
/** A thread that does not answer in time is left out of /metrics. */
const METRICS_WAIT_MS = 1_000

export function createThreads(deps: ThreadsDeps) {
  // The flag of the command line would hold for every thread.
  setFlagsFromString('--max-semi-space-size=0')
  const { config, dataDir, logger, health, metrics } = deps
  const logFormat = config.logFormat === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : config.logFormat
  const common: ThreadData = { config, dataDir, logFormat }
  const services = new Map<string, PublishedReport>()
  const cells: PositionCell[] = []
  let prepared = () => {}
  const whenPrepared = new Promise<void>((resolve) => {
    prepared = resolve
  })
  let push: PushReport | undefined
  let pushUsage = (): PushUsage | undefined => undefined
  let { wsPort } = config

  const pushedPositions = createPushedPositions((shared) => {
    cells.push(shared)
    if (rest.report().running) rest.link.tell('adopt', shared)
  })
  const processReport = (): ProcessReport => ({
    services: [...services.values()],
    away: health.report().map((one) => ({ ...one, where: 'up' })),
    threads: [ingest, fold, rest].map((thread) => thread.report()),
    ...{ push, wsPort },
  })
  const onChange = () => {
    if (rest.report().running) rest.link.tell('update', processReport())
  }

  const mine: ReportMethods = {
    report(report) {
      services.delete(report.service)
      services.set(report.service, { ...report, instance: 'up', atMs: Date.now() })
      noteAway(report)
      onChange()
    },
    stopProcess: deps.stopProcess,
  }

  /** A part is unreachable while any thread reports it. */
  const awayOf = new Map<string, Set<Part>>()
  function noteAway({ service, away }: ServiceReport): void {
    const before = awayOf.get(service) ?? new Set()
    awayOf.set(service, new Set(away.map(({ part }) => part)))
    for (const { part, reason } of away) health.markUnreachable(part, reason)
    for (const part of before) if (![...awayOf.values()].some((parts) => parts.has(part))) health.markReachable(part)
  }

  const ingest = superviseThread<IngestMethods>({
    ...{ name: 'ingest', entry: new URL('./ingest-thread.js', import.meta.url), youngMb: YOUNG_MB.ingest },
    data: (): IngestData => ({
      ...common,
      ...{
        source: deps.source,
        speed: deps.speed,
        openFrom: deps.openFrom,
      },
    }),
    mine: { ...mine, history: deps.onHistory } satisfies IngestMain,
    begin: async (link, isAgain) => {
      opened = await link.call('open')
      if (isAgain) follow(link.call('run'))
    },
    ...{ onChange, logger },
  })
  let opened: Awaited<ReturnType<IngestMethods['open']>> = { source: undefined, example: undefined }

  const fold = superviseThread<FoldMethods>({
    ...{ name: 'fold', entry: new URL('./fold-thread.js', import.meta.url), youngMb: YOUNG_MB.fold },
    ...{ data: () => common, mine, onChange, logger },
    begin: async (link, isAgain) => {
      await link.call('open')
      if (isAgain) folding(link.call('run'))
    },
  })

  let httpPort: number | undefined
  const rest = superviseThread<RestMethods>({
    ...{ name: 'rest', entry: new URL('./rest-thread.js', import.meta.url), youngMb: YOUNG_MB.rest },
    data: (): RestData => ({
      ...common,
      // A port that the system chose stays the same.
      config: { ...config, httpPort: httpPort ?? config.httpPort },
      ...{ simulated: deps.simulated, wsTokenSecret: deps.wsTokenSecret, pushed: [...cells], report: processReport() },
    }),
    mine: {
      prepared: () => whenPrepared,
      flush: (chain) => fold.link.call('flush', chain),
      metricsOfOthers,
      pushUsage: () => pushUsage(),
    } satisfies RestMain,
    begin: async (link) => {
      httpPort = await link.call('open')
      // What changed while it was starting.
      for (const shared of cells) link.tell('adopt', shared)
      link.tell('update', processReport())
    },
    ...{ onChange, logger },
  })

  async function metricsOfOthers(): Promise<MetricsData[]> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, METRICS_WAIT_MS, undefined).unref())
    const asked = [ingest, fold].map(({ link }) => Promise.race([link.call('metrics').catch(() => undefined), late]))
    return [await metrics.data(), ...(await Promise.all(asked)).filter((data) => data !== undefined)]
  }

  /** Settles with the last run: one that ends with its thread is followed by another. */
  let endIngest = (_outcome: Promise<Awaited<ReturnType<IngestMethods['run']>>>) => {}
  const ingested = new Promise<Awaited<ReturnType<IngestMethods['run']>>>((resolve) => {
    endIngest = resolve
  })
  const follow = (run: Promise<Awaited<ReturnType<IngestMethods['run']>>>) =>
    void run.then(
      () => endIngest(run),
      (error) => isThreadEnd(error) || endIngest(run),
    )
  let endFold = (_hasFailed: Promise<boolean>) => {}
  const folded = new Promise<boolean>((resolve) => {
    endFold = resolve
  })
  const folding = (run: Promise<boolean>) =>
    void run.then(
      () => endFold(run),
      (error) => isThreadEnd(error) || endFold(run),
    )

  let stopping: Promise<void> | undefined
  async function stopAll(): Promise<void> {
    await Promise.all([ingest, fold, rest].map((thread) => thread.stop()))
    // For a thread that was just being started again.
    endIngest(Promise.resolve('stopped'))
    endFold(Promise.resolve(false))
  }

  const early = [fold.start(), rest.start()]
  for (const start of early) start.catch(() => {})

  return {
    pushedPositions,
    pipeStatus: createPipeStatus(() => [...services.values()], Date.now).chains,
    /** The store's tables exist. */
    prepared,
    pushes({ push: report, pushUsage: usage }: Pick<Serve, 'push' | 'pushUsage'>, port: number) {
      push = report
      pushUsage = usage
      wsPort = port
      onChange()
    },
    /** Fails if a source is misconfigured. */
    async openSources() {
      await ingest.start()
      return opened
    },
    /** Resolves with the port, or undefined if the signal aborts before it answers. */
    async openRest(signal: AbortSignal): Promise<number | undefined> {
      await Promise.race([Promise.all(early), abortOf(signal)])
      return signal.aborted ? undefined : httpPort
    },
    /** Resolves when it has ended: whether it failed. */
    fold() {
      folding(fold.link.call('run'))
      return folded
    },
    ingest() {
      follow(ingest.link.call('run'))
      return ingested
    },
    flush: () => fold.link.call('flush'),
    stop(): Promise<void> {
      stopping ??= stopAll()
      return stopping
    },
  }
}

const isThreadEnd = (error: unknown): boolean => (error as { code?: unknown }).code === 'thread_ended'
