/** REST in a thread of its own, in `up` and in a serve node: what it needs from the main thread, which pushes. */
import type { PublishedReport } from '../../core/coordination/service-reports.js'
import type { Repair } from '../../core/data-dir/repairs.js'
import { abortOf } from '../../core/runtime/backoff.js'
import type { DiskReport } from '../../core/runtime/disk-space.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { MetricsData } from '../../core/runtime/metrics.js'
import type { UnreachablePart, UnreachableReport } from '../../core/runtime/part-health.js'
import type { Serve } from '../../serve/assemble.js'
import { createPushedPositions, type PositionCell } from '../../serve/pushed-positions.js'
import type { PushReport, PushUsage, ThreadReport } from '../../serve/serve-deps.js'
import type { ProcessReport, RestData, RestMain, RestMethods } from './rest-thread.js'
import { superviseThread } from './supervised-thread.js'
import type { ThreadData } from './thread-parts.js'

export type RestThreadDeps = {
  data: ThreadData & Pick<RestData, 'wsTokenSecret'>
  isSimulated: () => boolean
  /** Reports of ingest and aggregate, in the order in which they were made. */
  services: () => readonly PublishedReport[]
  /** What this process cannot reach. */
  away: () => UnreachableReport[]
  /** What REST cannot reach, whenever it changes. */
  onAway: (away: readonly UnreachablePart[]) => void
  /** Unfinished repairs of the data directory. */
  repairs?: () => Repair[]
  /** Of the data directory. */
  disk?: () => DiskReport
  /** Threads beside this one. */
  otherThreads: () => ThreadReport[]
  metricsOfOthers: () => Promise<MetricsData[]>
  flush: (chain: string) => Promise<void>
  logger: Logger
}

/** Small: what lives longer than a request is mostly outside the heap. */
const YOUNG_MB = 48

export function createRestThread(deps: RestThreadDeps) {
  const { data, logger } = deps
  const cells: PositionCell[] = []
  let push: PushReport | undefined
  let pushUsage = (): PushUsage | undefined => undefined
  let { httpPort, wsPort } = data.config
  let prepared = () => {}
  const whenPrepared = new Promise<void>((resolve) => {
    prepared = resolve
  })
  const report = (): ProcessReport => ({
    ...{ services: deps.services(), away: deps.away(), simulated: deps.isSimulated(), push, wsPort },
    ...{ threads: [...deps.otherThreads(), thread.report()], repairs: deps.repairs?.() ?? [] },
    disk: deps.disk?.(),
  })
  const changed = () => {
    if (thread.report().running) thread.link.tell('update', report())
  }
  const pushedPositions = createPushedPositions((shared) => {
    cells.push(shared)
    if (thread.report().running) thread.link.tell('adopt', shared)
  })

  const thread = superviseThread<RestMethods>({
    ...{ name: 'rest', entry: new URL('./rest-thread.js', import.meta.url), youngMb: YOUNG_MB },
    data: (): RestData => ({
      ...data,
      // A port that the system chose stays the same.
      ...{ config: { ...data.config, httpPort }, pushed: [...cells], report: report() },
    }),
    mine: {
      prepared: () => whenPrepared,
      away: deps.onAway,
      flush: deps.flush,
      metricsOfOthers: deps.metricsOfOthers,
      pushUsage: () => pushUsage(),
    } satisfies RestMain,
    begin: async (link) => {
      httpPort = await link.call('open')
      // What changed while it was starting.
      for (const shared of cells) link.tell('adopt', shared)
      link.tell('update', report())
    },
    ...{ onChange: changed, logger },
  })
  const started = thread.start()
  // Reported where it is awaited.
  started.catch(() => {})

  return {
    pushedPositions,
    /** Tells it that something of its report has changed. */
    changed,
    /** The store's tables exist. */
    prepared,
    /** Pushes are served. */
    pushes(serve: Pick<Serve, 'push' | 'pushUsage'>, port: number): void {
      push = serve.push
      pushUsage = serve.pushUsage
      wsPort = port
      changed()
    },
    /** Resolves with the port once it answers, or with undefined if the signal aborts before. */
    async opened(signal: AbortSignal): Promise<number | undefined> {
      await Promise.race([started, abortOf(signal)])
      return signal.aborted ? undefined : httpPort
    },
    report: thread.report,
    stop: thread.stop,
  }
}
