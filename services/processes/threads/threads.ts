/** The threads of `up`, and what they tell each other through the main one. */
import type { ChainSourceConfig } from '../../core/config/index.js'
import type { FoldChain, PublishedReport } from '../../core/coordination/service-reports.js'
import type { Damage, Repairs } from '../../core/data-dir/repairs.js'
import { createDiskWatch, freeBytesOf } from '../../core/runtime/disk-space.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Metrics, MetricsData } from '../../core/runtime/metrics.js'
import type { Health } from '../../core/runtime/part-health.js'
import { registerDiskMetrics, registerThreadMetrics } from '../../core/runtime/process-metrics.js'
import type { Shutdown } from '../../core/runtime/shutdown.js'
import { createPipeStatus } from '../../serve/pipe-status.js'
import { FOLD_AGAIN } from '../repair/heal-at-start.js'
import type { FoundDamage } from './check-thread.js'
import type { FoldMethods } from './fold-thread.js'
import type { IngestData, IngestMain, IngestMethods } from './ingest-thread.js'
import { createMergedHealth } from './merged-health.js'
import { createRestThread, type RestThreadDeps } from './run-rest.js'
import { superviseThread } from './supervised-thread.js'
import type { ReportMethods } from './thread-parts.js'

export type ThreadsDeps = Pick<IngestData, 'source' | 'speed' | 'openFrom'> & {
  data: RestThreadDeps['data']
  simulated: boolean
  logger: Logger
  health: Health
  metrics: Metrics
  repairs: Repairs
  /** Reports of processes beside this one. */
  otherReports: () => readonly PublishedReport[]
  onHistory: (done: number) => void
  stopProcess: (reason: string) => void
} & Pick<Shutdown, 'awaiting'>

/** The young generation of a heap takes three times a semi-space: the fold, which makes the most garbage, has the largest. */
const YOUNG_MB = { fold: 96, ingest: 48 }
/** A thread that does not answer in time is left out of /metrics. */
const METRICS_WAIT_MS = 1_000
const STORE_REPAIRED_EVERY_MS = 2_000
const LOOK_AT_DISK_EVERY_MS = 1_000

export function createThreads(deps: ThreadsDeps) {
  const { data, logger, health, metrics } = deps
  const { config, dataDir, logFormat } = data
  const common = { config, dataDir, logFormat }
  const services = new Map<string, PublishedReport>()
  const noteAway = createMergedHealth(health)
  const ingested = createOutcome<Awaited<ReturnType<IngestMethods['run']>>>()
  const folded = createOutcome<boolean>()
  let opened: Awaited<ReturnType<IngestMethods['open']>> = { source: undefined, example: undefined }
  let { source } = deps
  const onChange = () => rest.changed()

  const mine: ReportMethods = {
    report(report) {
      services.delete(report.service)
      // What is unreachable is reported once for the process.
      services.set(report.service, { ...report, away: [], instance: 'up', atMs: Date.now() })
      noteAway(report.service, report.away)
      noteStored()
      onChange()
    },
    damage(damage, until) {
      // A repair removes checkpoints, so that the fold misses them.
      const isKnown = deps.repairs.list().some((repair) => Object.keys(until).every((chain) => chain in repair.until))
      if (isKnown) return
      deps.repairs.begin(damage, until)
      noteStored()
      onChange()
    },
    stopProcess: deps.stopProcess,
  }

  function foldedChains(): FoldChain[] {
    return [...services.values()].flatMap((report) => (report.service === 'aggregate' ? report.chains : []))
  }

  /** A chain that has stopped stores no more: it is reported as stopped instead. */
  function noteStored(): void {
    for (const { chain, epoch = 0, storedBlock, stopped } of foldedChains())
      deps.repairs.noteStored(chain, stopped === null ? (storedBlock ?? -1) : Number.POSITIVE_INFINITY, epoch)
  }

  const disk = createDiskWatch({
    ...{ reserveBytes: config.disk.reserveBytes, readFreeBytes: () => freeBytesOf(dataDir), logger },
    onChange({ state }) {
      ingest.link.tell('pause', state === 'full')
      if (state !== 'ok') fold.link.call('retain').catch(() => {})
      onChange()
    },
  })
  registerDiskMetrics(metrics, () => disk.report())
  registerThreadMetrics(metrics, () => [ingest.report(), fold.report(), rest.report()])
  metrics.gauge({ name: 'dextape_unfinished_repairs', help: 'Damages that are being repaired' }, () => [
    { value: deps.repairs.list().length },
  ])
  metrics.gauge(
    { name: 'dextape_last_damage_timestamp_seconds', help: 'When this process last found damage; 0: never' },
    () => [{ value: deps.repairs.lastFound() }],
  )
  const looking = setInterval(() => disk.look(), LOOK_AT_DISK_EVERY_MS).unref()

  const ingest = superviseThread<IngestMethods>({
    ...{ name: 'ingest', entry: new URL('./ingest-thread.js', import.meta.url), youngMb: YOUNG_MB.ingest },
    data: (): IngestData => ({ ...common, source, speed: deps.speed, openFrom: deps.openFrom }),
    mine: { ...mine, history: deps.onHistory } satisfies IngestMain,
    begin: async (link, isAgain) => {
      opened = await link.call('open')
      link.tell('pause', disk.report().state === 'full')
      if (isAgain) ingested.follow(link.call('run'))
    },
    ...{ onChange, logger },
  })

  const fold = superviseThread<FoldMethods>({
    ...{ name: 'fold', entry: new URL('./fold-thread.js', import.meta.url), youngMb: YOUNG_MB.fold },
    ...{ data: () => common, mine, onChange, logger },
    begin: async (link, isAgain) => {
      await link.call('open')
      if (isAgain) folded.follow(link.call('run'))
    },
  })

  const rest = createRestThread({
    ...{
      data,
      logger,
      isSimulated: () => deps.simulated,
      services: () => [...services.values(), ...deps.otherReports()],
    },
    away: () => health.report().map((one) => ({ ...one, where: 'up' })),
    onAway: (away) => noteAway('rest', away),
    ...{ repairs: () => deps.repairs.list(), disk: () => disk.report() },
    otherThreads: () => [ingest.report(), fold.report()],
    flush: (chain) => fold.link.call('flush', chain),
    async metricsOfOthers() {
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, METRICS_WAIT_MS, undefined).unref())
      const asked = [ingest, fold].map(({ link }) => Promise.race([link.call('metrics').catch(() => undefined), late]))
      const answers = await Promise.all(asked)
      return [await metrics.data(), ...answers.filter((answer): answer is MetricsData => answer !== undefined)]
    },
  })
  const foldStarted = fold.start()
  // Reported where it is awaited.
  foldStarted.catch(() => {})

  /** The running store is damaged: it is emptied and filled again. */
  async function rebuildStore(damage: Damage): Promise<void> {
    const head = ({ chain, storedBlock, epoch = 0 }: FoldChain) =>
      [chain, { block: storedBlock ?? 0, epoch: epoch + 1 }] as const
    deps.repairs.begin(damage, Object.fromEntries(foldedChains().map(head)), false)
    onChange()
    await fold.link.call('rebuildStore')
    deps.repairs.prepared()
  }

  /** A repair ends when the rows are stored: it need not wait for a full batch. */
  const storing = setInterval(() => {
    if (deps.repairs.list().length > 0) fold.link.call('flush').catch(() => {})
  }, STORE_REPAIRED_EVERY_MS).unref()

  let stopping: Promise<void> | undefined
  async function stopAll(): Promise<void> {
    clearInterval(storing)
    clearInterval(looking)
    const stops = [ingest, fold, rest].map((one) => deps.awaiting(`thread ${one.report().thread}`, one.stop()))
    await Promise.all(stops)
    // For a thread that was just being started again.
    ingested.settle('stopped')
    folded.settle(false)
  }

  return {
    rest,
    pipeStatus: createPipeStatus(() => [...services.values()], Date.now).chains,
    /** Fails if a source is misconfigured. */
    async openSources() {
      await ingest.start()
      return opened
    },
    /** Resolves when it has ended: whether it failed. */
    async fold(): Promise<boolean> {
      await foldStarted
      folded.follow(fold.link.call('run'))
      return folded.outcome
    },
    ingest() {
      ingested.follow(ingest.link.call('run'))
      return ingested.outcome
    },
    flush: () => fold.link.call('flush'),
    /** Found while it runs; a damaged log is repaired by the next start. */
    async repair({ part, chain, what }: FoundDamage): Promise<void> {
      if (part === 'log') {
        logger.error('damage found', { part, what, answer: 'the process ends; a start repairs the log' })
        return deps.stopProcess('the log is damaged; start Dextape again to repair it')
      }
      if (part === 'store') return rebuildStore({ part, what, answer: FOLD_AGAIN })
      await fold.link.call('refoldChain', chain ?? '')
    },
    /** Reads these chains from now on, with their nodes and scopes. */
    changeSources(sources: readonly ChainSourceConfig[]): void {
      source = { kind: 'chains', sources }
      const failed = (error: unknown) => logger.error('the changed chains cannot be read', { error })
      ingest.link.call('change', sources).catch(failed)
    },
    stop(): Promise<void> {
      stopping ??= stopAll()
      return stopping
    },
  }
}

/** How the last run of a thread ended: one that ended with its thread is followed by another. */
function createOutcome<T>() {
  let settle = (_outcome: T | Promise<T>) => {}
  const outcome = new Promise<T>((resolve) => {
    settle = resolve
  })
  const isThreadEnd = (error: unknown): boolean => (error as { code?: unknown }).code === 'thread_ended'
  return {
    outcome,
    settle: (value: T) => settle(value),
    follow: (run: Promise<T>) =>
      void run.then(
        () => settle(run),
        (error: unknown) => isThreadEnd(error) || settle(run),
      ),
  }
}
