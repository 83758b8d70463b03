/**
 * Metrics for /metrics. Hot paths count in plain numbers, which are read only when /metrics is requested.
 * Several parts may contribute samples to one metric (dead letters come from ingest and from the fold).
 */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Sample = { labels?: Record<string, string>; value: number }
export type SampleSource = () => Iterable<Sample>

/** Names end in their unit: `_total`, `_seconds`, `_bytes`, `_blocks` … */
export type MetricSpec = { name: `dextape_${string}`; help: string; labels?: readonly string[] }

/** The text form, with its content type. */
export type MetricsText = { text(): Promise<string>; readonly contentType: string }

/** All values, to be merged with those of other threads. */
export type MetricsData = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Units of what histograms count. */
export type HistogramUnit = 'seconds' | 'blocks' | 'records' | 'rows'

export interface Metrics extends MetricsText {
  data(): Promise<MetricsData>
  counter(spec: MetricSpec & { name: `dextape_${string}_total` }, source: SampleSource): void
  gauge(spec: MetricSpec, source: SampleSource): void
  /** The same one for each call with its name. Not for hot paths: each observation is counted at once. */
  histogram(spec: MetricSpec & { name: `dextape_${string}_${HistogramUnit}`; buckets: readonly number[] }): Observer
}

export type Observer = { observe(labels: Record<string, string>, value: number): void }

/** Shared by ingest and aggregate. */
export const DEAD_LETTERS_TOTAL = {
  name: 'dextape_dead_letters_total',
  help: 'Dead letters since the process started, by reason',
  labels: ['chain', 'reason'],
} as const

/** By default the event loop's delay is sampled every 10 ms: an idle process would wake up a hundred times per second. */
const EVENT_LOOP_SAMPLE_MS = 200

export function createMetrics(options: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry()
  const sourcesOf = new Map<string, SampleSource[]>()
  const histograms = new Map<string, Observer>()
  if (options.processMetrics !== false)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS })

  function register(kind: 'counter' | 'gauge', spec: MetricSpec, source: SampleSource): void {
    const known = sourcesOf.get(spec.name)
    if (known !== undefined) {
      known.push(source)
      return
    }
    const sources = [source]
    sourcesOf.set(spec.name, sources)
    const labelNames = [...(spec.labels ?? [])]
    const options = { name: spec.name, help: spec.help, labelNames, registers: [registry] }
    if (kind === 'counter') {
      const metric: Counter<string> = new Counter({ ...options, collect: () => fill(metric, sources) })
    } else {
      const metric: Gauge<string> = new Gauge({ ...options, collect: () => fill(metric, sources) })
    }
  }

  return {
    histogram({ name, help, labels, buckets }) {
      const known = histograms.get(name)
      if (known !== undefined) return known
      const options = { name, help, labelNames: [...(labels ?? [])], buckets: [...buckets], registers: [registry] }
      const histogram = new Histogram<string>(options)
      histograms.set(name, histogram)
      return histogram
    },
    counter: (spec, source) => register('counter', spec, source),
    gauge: (spec, source) => register('gauge', spec, source),
    text: () => registry.metrics(),
    data: () => registry.getMetricsAsJSON(),
    contentType: registry.contentType,
  }
}

/** One text for several threads: what more than one of them counts is added up. */
export const mergedMetrics = (threads: readonly MetricsData[]): Promise<string> =>
  AggregatorRegistry.aggregate([...threads]).metrics()

function fill(metric: Counter<string> | Gauge<string>, sources: readonly SampleSource[]): void {
  metric.reset()
  for (const source of sources) {
    for (const { labels, value } of source()) metric.inc(labels ?? {}, value)
  }
}
