/** What ingest and aggregate told of themselves, as /status shows it. */
import {
  type FoldChain,
  HEARTBEAT_MS,
  type IngestChain,
  type PublishedReport,
} from '../core/coordination/service-reports.js'
import type { KeyedTable } from '../core/log/keyed-table.js'
import type { UnreachableReport } from '../core/runtime/part-health.js'
import type { PipeChainStatus } from './deps.js'

/** What is away for somebody who has long been silent is not known. */
const SILENT_MS = 4 * HEARTBEAT_MS

export interface PipeStatus {
  chains(): PipeChainStatus[]
  away(): UnreachableReport[]
}

export function createPipeStatus(table: Pick<KeyedTable<PublishedReport>, 'entries'>, nowMs: () => number): PipeStatus {
  /** The newest word about each chain: entries come in the order they were told. */
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
    away: () =>
      table
        .entries()
        .filter(({ value }) => nowMs() - value.atMs < SILENT_MS)
        .flatMap(({ value: { service, instance, away } }) =>
          away.map(({ part, since, reason }) => ({ part, where: `${service} ${instance}`, since, reason })),
        ),
  }
}
