/** What is said of any chain's nodes. */
import type { Finality } from '../../core/config/index.js'
import type { Header } from '../../ingest/sources/following/chain-nodes.js'
import type { EndpointStatus } from '../../ingest/sources/nodes/endpoint-status.js'
import type { Finding } from './checks.js'

export type Say = (level: Finding['level'], what: string, fix?: string) => void

/** Short: whoever asks the doctor waits for the answer. */
export const PATIENCE = { attempts: 4, ms: 15_000 }
export const TIMEOUT_MS = 10_000
const OLD_HEAD_S = 120

export function sayEndpoint(
  { name, healthy, reason, latencyMs, head, range, batch, errors }: EndpointStatus,
  say: Say,
  hasRanges = true,
): void {
  if (!healthy || latencyMs === null) {
    const faults = Object.entries(errors).map(([kind, count]) => `${kind} ${count}`)
    return say('warn', `node ${name} is not to be used: ${reason ?? faults.join(', ')}`, 'see its URL and key')
  }
  const ranges = hasRanges ? `ranges of ${range.toLocaleString('en')} blocks, ` : ''
  const takes = `${ranges}batches of ${batch}`
  say('ok', `node ${name} answers in ${Math.round(latencyMs)} ms; head ${head ?? 'not asked'}; takes ${takes}`)
}

/** `final`: by the nodes' word; null: they have none. */
export function sayHead(
  head: Pick<Header, 'number' | 'timeS'>,
  finality: Finality,
  final: number | null,
  nowMs: () => number,
  say: Say,
): void {
  const ageS = Math.max(0, Math.round(nowMs() / 1000 - head.timeS))
  const text = `head ${head.number}, ${ageS} s old`
  if (ageS > OLD_HEAD_S) say('warn', text, 'the nodes are behind, or the chain stands still')
  else say('ok', text)
  if (finality.kind === 'depth') return say('ok', `final ${finality.blocks} blocks below the head, as configured`)
  if (final !== null) say('ok', `final up to block ${final}, ${head.number - final} below the head (the nodes’ tag)`)
  else say('warn', 'the nodes know no "finalized" block: 64 below the head counts', 'set "finality" to a depth')
}

/** Requests a second: what the user allows, and what the nodes do as far as they said. */
export type Allowed = { maxRps: number | undefined; taken: number | undefined }

/** The most the nodes together take, as far as so few requests tell; undefined: one of them refused none. */
export function nodesTake(statuses: readonly Pick<EndpointStatus, 'healthy' | 'perS'>[]): number | undefined {
  const healthy = statuses.filter((status) => status.healthy)
  if (healthy.length === 0 || healthy.some(({ perS }) => perS === null)) return undefined
  return healthy.reduce((sum, { perS }) => sum + (perS ?? 0), 0)
}

export function sayNeeds(
  { requestsPerS, bytesPerDay }: { requestsPerS: number; bytesPerDay: number },
  seen: string,
  { maxRps, taken }: Allowed,
  say: Say,
): void {
  const needs = `the scope needs about ${requestsPerS.toFixed(1)} requests/s and ${gigabytes(bytesPerDay)} a day (${seen})`
  if (maxRps !== undefined && maxRps < requestsPerS)
    say('warn', `${needs}; "max_rps" is ${maxRps}`, 'narrow the scope or raise "max_rps": it would fall behind')
  else if (taken !== undefined && taken < requestsPerS)
    say(
      'warn',
      `${needs}; the nodes take ${taken.toFixed(1)} at most`,
      'narrow the scope or add nodes: it would fall behind',
    )
  else say('ok', needs)
}

const gigabytes = (bytes: number): string => `${bytes >= 1e8 ? (bytes / 1e9).toFixed(1) : (bytes / 1e9).toFixed(3)} GB`

export function total(statuses: readonly EndpointStatus[]): { requests: number; bytesReceived: number } {
  return {
    requests: statuses.reduce((sum, { requests }) => sum + requests, 0),
    bytesReceived: statuses.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0),
  }
}
