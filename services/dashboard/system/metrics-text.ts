/** What the page reads from /metrics. */
export type Sample = { labels: Record<string, string>; value: number }
export type Metrics = { atMs: number; byName: Map<string, Sample[]> }

const LINE = /^(dextape_\w+)(?:\{(.*)\})? (\S+)$/

export function parseMetrics(text: string, atMs: number): Metrics {
  const byName = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined) continue
    const named = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, content]) => [label, content])
    const list = byName.get(name) ?? []
    list.push({ labels: Object.fromEntries(named) as Record<string, string>, value: Number(value) })
    byName.set(name, list)
  }
  return { atMs, byName }
}

export function sumOf({ byName }: Metrics, name: string, labels: Record<string, string> = {}): number {
  const fits = (sample: Sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  return (byName.get(name) ?? []).reduce((sum, sample) => (fits(sample) ? sum + sample.value : sum), 0)
}

export function perSecond(
  before: Metrics | undefined,
  now: Metrics,
  name: string,
  labels: Record<string, string> = {},
) {
  if (before === undefined || now.atMs <= before.atMs) return Number.NaN
  return Math.max(0, ((sumOf(now, name, labels) - sumOf(before, name, labels)) * 1000) / (now.atMs - before.atMs))
}

/** An upper bound of the quantile, in seconds: the first bucket that holds as many. NaN without observations. */
export function quantile(before: Metrics | undefined, now: Metrics, stage: string, part: number): number {
  const name = 'dextape_stage_latency_seconds_bucket'
  const ofStage = (metrics: Metrics | undefined) =>
    new Map(
      (metrics?.byName.get(name) ?? [])
        .filter(({ labels }) => labels.stage === stage)
        .map(({ labels, value }) => [labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le), value]),
    )
  const earlier = ofStage(before)
  const counts = [...ofStage(now)].map(([le, value]) => ({ le, count: value - (earlier.get(le) ?? 0) }))
  counts.sort((a, b) => a.le - b.le)
  const all = counts.at(-1)?.count ?? 0
  if (all === 0) return Number.NaN
  return counts.find(({ count }) => count >= all * part)?.le ?? Number.NaN
}

/** A depth that no reorg of the chain was above: the first bucket that holds all of them. */
export function deepestOf({ byName }: Metrics, chain: string): number {
  const buckets = (byName.get('dextape_fold_reorg_depth_blocks_bucket') ?? [])
    .filter(({ labels }) => labels.chain === chain)
    .map(({ labels, value }) => ({ le: labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le), value }))
    .sort((a, b) => a.le - b.le)
  return buckets.find(({ value }) => value === buckets.at(-1)?.value)?.le ?? Number.NaN
}
