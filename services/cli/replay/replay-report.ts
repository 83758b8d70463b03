/** Tells running servers how far a replay is: they show it in `/status` and `/metrics`. */
import {
  publishReport,
  publishStatus,
  REPORTS_KEPT_MS,
  type ReplayedChain,
  type ReplayStage,
  type ServiceReport,
} from '../../core/coordination/service-reports.js'
import { type EventLog, STATUS_TOPIC } from '../../core/log/port.js'
import { createPace, type Progress } from '../../core/runtime/progress.js'

export type ReplayReporter = {
  /** Begins a stage; `shown` is what the user of the command sees of it. */
  stage(stage: ReplayStage, epoch: number, shown?: Progress): Progress
  /** What is reported. */
  current(): ReplayedChain
  /** The last report: it has ended, or can be resumed. */
  end(stage: 'stopped' | 'ended'): Promise<void>
}

type ReporterOptions = {
  chain: string
  nowMs: () => number
  /** This process deletes older reports: the embedded log does not compact topics, and no `up` writes to it. */
  deletesOlder: boolean
}

const NOTHING: Progress = { report: () => {}, end: () => {} }

export function createReplayReporter(log: EventLog, { chain, nowMs, deletesOlder }: ReporterOptions): ReplayReporter {
  let current: ReplayedChain = { chain, epoch: 0, stage: 'folding', done: 0, total: 0, perS: 0, leftS: null }
  const ending = new AbortController()
  let publishing: Promise<void> | undefined
  const report = (): ServiceReport => ({ service: 'replay', away: [], chains: [current] })

  return {
    stage(stage, epoch, shown = NOTHING) {
      current = { ...current, stage, epoch, done: 0, total: 0, perS: 0, leftS: null }
      publishing ??= publishStatus(log, { instance: chain, report, nowMs }, ending.signal)
      const pace = createPace(nowMs)
      return {
        report(done, total = 0) {
          const { perS, leftS } = pace.at(done, total)
          current = { ...current, done, total, perS, leftS }
          shown.report(done, total)
        },
        end: shown.end,
      }
    },
    current: () => current,
    async end(stage) {
      if (publishing === undefined) return
      ending.abort()
      await publishing
      current = { ...current, stage }
      await publishReport(log, { ...report(), instance: chain, atMs: nowMs() })
      if (deletesOlder) await log.retain(STATUS_TOPIC, REPORTS_KEPT_MS)
    },
  }
}
