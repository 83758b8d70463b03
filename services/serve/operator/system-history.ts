/** What the process did in the last hour, sampled at a fixed pace and kept in memory. */
import type { Logger } from '../../core/runtime/logger.js'
import type { MetricsText } from '../../core/runtime/metrics.js'
import type { StatusReport } from '../status-report.js'
import { type MetricSample, quantileSince, readSamples, sumOf } from './metric-samples.js'
import { type Sizes, totalBytes } from './storage.js'

export const SAMPLE_S = 15
const KEPT = 3600 / SAMPLE_S
/** Sizes are asked of the store: every fourth sample. */
const SIZES_EVERY = 4
const LATENCY = 'dextape_stage_latency_seconds_bucket'

type ChainSample = {
  chain: string
  head: number
  lag_s: number
  blocks_per_s: number
  swaps_per_s: number
  reorgs: number
  dead_letters: number
}
export type SystemSample = {
  time: number
  requests_per_s: number
  sockets: number
  subscriptions: number
  unread_mb: number
  /** From block to frame, of the blocks since the sample before; null without any. */
  latency_p95_ms: number | null
  log_bytes: number
  store_bytes: number
  chains: ChainSample[]
}

export type HistoryDeps = {
  status: () => Promise<StatusReport>
  metrics: MetricsText
  sizes: () => Promise<Sizes>
  nowMs: () => number
  logger: Pick<Logger, 'warn'>
}

export function createSystemHistory({ status, metrics, sizes, nowMs, logger }: HistoryDeps) {
  const samples: SystemSample[] = []
  let before: { atMs: number; values: MetricSample[] } | undefined
  let known = { log_bytes: 0, store_bytes: 0 }
  let turn = 0
  let timer: NodeJS.Timeout | undefined

  async function take(): Promise<void> {
    const { chains, budgets } = await status()
    const values = readSamples(await metrics.text())
    const atMs = nowMs()
    if (turn % SIZES_EVERY === 0) {
      const { log, store } = await sizes()
      known = { log_bytes: totalBytes(log), store_bytes: totalBytes(store) }
    }
    turn += 1
    const perS = (name: string, labels: Record<string, string> = {}) => {
      if (before === undefined || atMs <= before.atMs) return 0
      const grown = sumOf(values, name, labels) - sumOf(before.values, name, labels)
      return Math.max(0, Math.round((grown * 10_000) / (atMs - before.atMs)) / 10)
    }
    const { sockets = 0, subscriptions = 0, unread_mb = 0 } = budgets.in_use
    samples.push({
      ...{ time: Math.floor(atMs / 1000), requests_per_s: perS('dextape_serve_requests_total') },
      ...{ sockets, subscriptions, unread_mb, ...known },
      latency_p95_ms: inMs(quantileSince(before?.values ?? [], values, LATENCY, { stage: 'total' }, 0.95)),
      chains: chains.map(({ chain, head, lag_s, dead_letters }) => ({
        ...{ chain, head, lag_s, dead_letters },
        blocks_per_s: perS('dextape_serve_updates_applied_total', { chain }),
        swaps_per_s: perS('dextape_fold_swaps_total', { chain }),
        reorgs: sumOf(values, 'dextape_ingest_retracts_total', { chain }),
      })),
    })
    if (samples.length > KEPT) samples.shift()
    before = { atMs, values }
  }

  return {
    start(): void {
      const sample = () => void take().catch((error) => logger.warn('cannot sample the system', { error }))
      timer = setInterval(sample, SAMPLE_S * 1000).unref()
    },
    stop: () => clearInterval(timer),
    take,
    samples: (): readonly SystemSample[] => samples,
  }
}

const inMs = (seconds: number): number | null => (Number.isFinite(seconds) ? Math.round(seconds * 1e6) / 1000 : null)
