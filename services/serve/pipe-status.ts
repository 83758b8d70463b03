/** Status of ingest and aggregate for /status, from their reports in the log. */
import {
  type FoldChain,
  HEARTBEAT_MS,
  type IngestChain,
  type PublishedReport,
} from '../core/coordination/service-reports.js'
import type { KeyedTable } from '../core/log/keyed-table.js'
import type { UnreachableReport } from '../core/runtime/part-health.js'
import type { PipeChainStatus } from './serve-deps.js'

/** Outages of a process that has been silent this long are unknown. */
const SILENT_MS = 4 * HEARTBEAT_MS

export interface PipeStatus {
  chains(): PipeChainStatus[]
  outages(): UnreachableReport[]
}

export function createPipeStatus(table: Pick<KeyedTable<PublishedReport>, 'entries'>, nowMs: () => number): PipeStatus {
  /** The latest report per chain: entries are in report order. */
  function newest() {
    const ingests = new Map<string, IngestChain>()
    const folds = new Map<string, FoldChain>()
    for (const { value } of table.entries()) {
      if (value.service === 'ingest') for (const one of value.chains) ingests.set(one.chain, one)
      else for (const one of value.chains) folds.set(one.chain, one)
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
      table
        .entries()
        .filter(({ value }) => nowMs() - value.atMs < SILENT_MS)
        .flatMap(({ value: { service, instance, away } }) =>
          away.map(({ part, since, reason }) => ({ part, where: `${service} ${instance}`, since, reason })),
        ),
  }
}
