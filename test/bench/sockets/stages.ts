/** How long blocks took in each stage, from the histograms of the server. */
import type { Stage } from '../../../services/core/runtime/stage-latency.js'

export type StageTimes = { stage: Stage; blocks: number; p50: number; p99: number }

type Samples = ReadonlyMap<string, number>

const STAGES: readonly Stage[] = ['append', 'fold', 'observe', 'write', 'total']
const NAME = 'dextape_stage_latency_seconds'

/** In milliseconds, of the blocks between two readings of /metrics. */
export function stagesBetween(before: Samples, after: Samples): StageTimes[] {
  return STAGES.map((stage) => {
    const counted = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
    const limits = [...after.keys()].flatMap((name) => limitOf(name, stage) ?? []).sort((a, b) => a.s - b.s)
    const buckets = limits.map(({ s, name }) => ({ s, count: counted(name) }))
    const blocks = counted(`${NAME}_count{stage="${stage}"}`)
    return { stage, blocks, p50: quantile(buckets, 0.5) * 1000, p99: quantile(buckets, 0.99) * 1000 }
  })
}

function limitOf(name: string, stage: Stage): { s: number; name: string } | undefined {
  const [, limit] = new RegExp(`^${NAME}_bucket\\{le="([^"]+)",stage="${stage}"\\}$`).exec(name) ?? []
  return limit === undefined ? undefined : { s: limit === '+Inf' ? Number.POSITIVE_INFINITY : Number(limit), name }
}

/** As Prometheus estimates it: values are spread evenly over their bucket. NaN without values. */
function quantile(buckets: readonly { s: number; count: number }[], share: number): number {
  const rank = (buckets.at(-1)?.count ?? 0) * share
  let [lower, below] = [0, 0]
  for (const { s, count } of buckets) {
    if (count > 0 && count >= rank)
      return Number.isFinite(s) ? lower + ((s - lower) * (rank - below)) / (count - below) : lower
    lower = s
    below = count
  }
  return Number.NaN
}
