/** Findings about the nodes of any chain. */
import type { Finality } from '../../core/config/index.js'
import type { Header } from '../../ingest/sources/following/chain-nodes.js'
import type { EndpointStatus } from '../../ingest/sources/nodes/endpoint-status.js'
import type { Finding } from './checks.js'

export type Report = (level: Finding['level'], what: string, fix?: string) => void

/** Short: someone is waiting for the result. */
export const PATIENCE = { attempts: 4, ms: 15_000 }
export const TIMEOUT_MS = 10_000
const OLD_HEAD_S = 120

export function reportEndpoint(
  { name, healthy, reason, latencyMs, head, range, batch, errors }: EndpointStatus,
  report: Report,
  hasRanges = true,
): void {
  if (!healthy || latencyMs === null) {
    const faults = Object.entries(errors).map(([kind, count]) => `${kind} ${count}`)
    return report('warn', `node ${name} is unusable: ${reason ?? faults.join(', ')}`, 'check its URL and key')
  }
  const ranges = hasRanges ? `ranges of ${range.toLocaleString('en')} blocks, ` : ''
  const accepts = `${ranges}batches of ${batch}`
  report('ok', `node ${name} responds in ${Math.round(latencyMs)} ms; head ${head ?? 'unknown'}; accepts ${accepts}`)
}

/** `final`: the last block the nodes report as finalized; null: they report none. */
export function reportHead(
  head: Pick<Header, 'number' | 'timeS'>,
  finality: Finality,
  final: number | null,
  nowMs: () => number,
  report: Report,
): void {
  const ageS = Math.max(0, Math.round(nowMs() / 1000 - head.timeS))
  const text = `head ${head.number}, ${ageS} s old`
  if (ageS > OLD_HEAD_S) report('warn', text, 'the nodes are behind, or the chain has halted')
  else report('ok', text)
  if (finality.kind === 'depth') return report('ok', `finality: ${finality.blocks} blocks below the head (configured)`)
  if (final !== null) report('ok', `finality: block ${final}, ${head.number - final} below the head ("finalized" tag)`)
  else
    report(
      'warn',
      'the nodes report no "finalized" block; assuming 64 blocks below the head',
      'set "finality" to a depth',
    )
}

/** Requests per second: `maxRps` as configured, `nodeLimit` as far as the nodes have reported one. */
export type RateLimits = { maxRps: number | undefined; nodeLimit: number | undefined }

/** The sum of the nodes' rate limits; undefined: at least one has shown no limit. */
export function nodeRateLimit(statuses: readonly Pick<EndpointStatus, 'healthy' | 'perS'>[]): number | undefined {
  const healthy = statuses.filter((status) => status.healthy)
  if (healthy.length === 0 || healthy.some(({ perS }) => perS === null)) return undefined
  return healthy.reduce((sum, { perS }) => sum + (perS ?? 0), 0)
}

export function reportNeeds(
  { requestsPerS, bytesPerDay }: { requestsPerS: number; bytesPerDay: number },
  sampled: string,
  { maxRps, nodeLimit }: RateLimits,
  report: Report,
): void {
  const needs = `the scope needs about ${requestsPerS.toFixed(1)} requests/s and ${gigabytes(bytesPerDay)} per day (${sampled})`
  if (maxRps !== undefined && maxRps < requestsPerS)
    report('warn', `${needs}; "max_rps" is ${maxRps}`, 'ingest would fall behind: narrow the scope or raise "max_rps"')
  else if (nodeLimit !== undefined && nodeLimit < requestsPerS)
    report(
      'warn',
      `${needs}; the nodes allow ${nodeLimit.toFixed(1)}`,
      'ingest would fall behind: narrow the scope or add nodes',
    )
  else report('ok', needs)
}

const gigabytes = (bytes: number): string => `${bytes >= 1e8 ? (bytes / 1e9).toFixed(1) : (bytes / 1e9).toFixed(3)} GB`

export function total(statuses: readonly EndpointStatus[]): { requests: number; bytesReceived: number } {
  return {
    requests: statuses.reduce((sum, { requests }) => sum + requests, 0),
    bytesReceived: statuses.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0),
  }
}
