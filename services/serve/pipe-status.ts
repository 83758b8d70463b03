/** Status of ingest, aggregate and replays for /status, from their reports. */
import {
  type FoldChain,
  HEARTBEAT_MS,
  type IngestChain,
  type PublishedReport,
  type ReplayedChain,
} from '../core/coordination/service-reports.js'
import type { UnreachableReport } from '../core/runtime/part-health.js'
import type { PipeChainStatus, ReplayReport } from './serve-deps.js'

/** Outages of a process that has been silent this long are unknown. */
const SILENT_MS = 4 * HEARTBEAT_MS

export interface PipeStatus {
  chains(): PipeChainStatus[]
  outages(): UnreachableReport[]
  /** Those that have not ended. */
  replays(): ReplayReport[]
}

/** `reports`: in the order in which they were made. */
export function createPipeStatus(reports: () => readonly PublishedReport[], nowMs: () => number): PipeStatus {
  /** The latest report per chain. */
  function newest() {
    const ingests = new Map<string, IngestChain>()
    const folds = new Map<string, FoldChain>()
    for (const report of reports()) {
      if (report.service === 'ingest') for (const one of report.chains) ingests.set(one.chain, one)
      else if (report.service === 'aggregate') for (const one of report.chains) folds.set(one.chain, one)
    }
    return { ingests, folds }
  }

  return {
    chains() {
      const { ingests, folds } = newest()
      return [...new Set([...folds.keys(), ...ingests.keys()])].map((chain) => {
        const { source = '', publishedAtMs = 0, stopped: unread = null } = ingests.get(chain) ?? {}
        const { indexedFrom = null, stopped: unfolded = null } = folds.get(chain) ?? {}
        const stopped = unfolded ?? unread
        return {
          chain,
          source,
          sourceAgeS: publishedAtMs === 0 ? null : Math.max(0, Math.floor((nowMs() - publishedAtMs) / 1000)),
          indexedFrom,
          ...(stopped === null ? {} : { stopped }),
        }
      })
    },
    outages: () =>
      reports()
        .filter(({ atMs }) => nowMs() - atMs < SILENT_MS)
        .flatMap(({ service, instance, away }) =>
          away.map(({ part, since, reason }) => ({ part, where: `${service} ${instance}`, since, reason })),
        ),
    replays: () =>
      reports().flatMap((report) =>
        report.service === 'replay'
          ? report.chains.flatMap((chain) => replayReport(chain, nowMs() - report.atMs < SILENT_MS))
          : [],
      ),
  }
}

function replayReport({ stage, perS, leftS, ...known }: ReplayedChain, isHeard: boolean): ReplayReport[] {
  if (stage === 'ended') return []
  const running = isHeard && stage !== 'stopped'
  return [{ ...known, stage, running, per_s: running ? perS : 0, left_s: running ? leftS : null }]
}
