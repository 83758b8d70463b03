/** Every metric the services register, read from their sources: each is registered with its name as a literal. */
import { servicesSources } from './services-sources.js'

export type MetricKind = 'counter' | 'gauge' | 'histogram'

/** Of prom-client, which collects them for every process. */
const OF_THE_RUNTIME = [
  'nodejs_eventloop_lag_p99_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'nodejs_heap_size_used_bytes',
]

/** Of Prometheus itself. */
const OF_PROMETHEUS = ['up']

export function registeredMetrics(): Map<string, MetricKind> {
  const found = new Map<string, MetricKind>()
  for (const { file, text } of servicesSources()) {
    if (file.startsWith('dashboard')) continue
    // A specification (`name: '…'`), a gauge of serve, a counter of serve, or a table of counters.
    const names = /(?:name: |gauge\(\s*|total\(\s*|^\s*\[)'(dextape_\w+)'/gm
    for (const { 1: name = '' } of text.matchAll(names)) {
      found.set(name, name.endsWith('_total') ? 'counter' : isHistogram(text, name) ? 'histogram' : 'gauge')
    }
  }
  return found
}

/** Its specification has buckets. */
const isHistogram = (text: string, name: string): boolean =>
  new RegExp(`name: '${name}'[^;]{0,200}?buckets`, 's').test(text)

/** Names that a query may use. */
export function seriesNames(): Set<string> {
  const names = new Set([...OF_THE_RUNTIME, ...OF_PROMETHEUS])
  for (const [name, kind] of registeredMetrics())
    for (const suffix of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(`${name}${suffix}`)
  return names
}

/** Names of series in a PromQL expression: words that are followed by neither `(` nor `=`, and are no label or keyword. */
export function namesIn(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, '""')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    // Numbers and durations.
    .replace(/(?<!\w)\d[\w.]*/g, '')
    .replace(/\b(by|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  const words = [...bare.matchAll(/[a-z_:][a-z0-9_:]*(?!\w)(?!\s*\()/gi)].map(([word]) => word)
  return [...new Set(words.filter((word) => !KEYWORDS.has(word)))]
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'offset', 'bool'])
