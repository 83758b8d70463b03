import type { Metrics, Sample } from '../core/runtime/metrics.js'
import { createStageLatency } from '../core/runtime/stage-latency.js'

/** A counter by label value: hot paths add, `/metrics` reads. */
export type LabelledCounter = { add(label: string, by?: number): void; of(label: string): number }

export type ServeMetrics = ReturnType<typeof createServeMetrics>

export function createServeMetrics(metrics: Metrics) {
  const total = (name: `dextape_serve_${string}_total`, help: string, label: string): LabelledCounter => {
    const counts = new Map<string, number>()
    metrics.counter({ name, help, labels: [label] }, () => samples(counts, label))
    return {
      add: (value, by = 1) => void counts.set(value, (counts.get(value) ?? 0) + by),
      of: (value) => counts.get(value) ?? 0,
    }
  }
  return {
    updatesApplied: total('dextape_serve_updates_applied_total', 'Updates applied to memory', 'chain'),
    updatesMissing: total('dextape_serve_updates_missing_total', 'Updates missing from the log (skipped seq)', 'chain'),
    requests: total('dextape_serve_requests_total', 'REST responses by status', 'status'),
    requestSeconds: total('dextape_serve_request_seconds_total', 'Time spent on REST responses', 'operation'),
    cu: total('dextape_serve_cu_total', 'Credit units charged', 'operation'),
    pushesEncoded: total(
      'dextape_serve_pushes_encoded_total',
      'Push payloads encoded, once for all subscribers',
      'topic',
    ),
    pushesConflated: total('dextape_serve_pushes_conflated_total', 'Pushes merged for slow sockets', 'topic'),
    socketsClosed: total('dextape_serve_sockets_closed_total', 'Sockets closed by the server, by reason', 'reason'),
    socketsSlowed: total(
      'dextape_serve_sockets_slowed_total',
      'Sockets that stopped getting pushes, by reason',
      'reason',
    ),
    badKeys: total('dextape_serve_bad_keys_total', 'Unknown or revoked API keys, by port', 'door'),
    latency: createStageLatency(metrics),
    responseSeconds: responseTimes(metrics),
    storeWaitSeconds: total('dextape_serve_store_wait_seconds_total', 'Time requests waited for their turn', 'lane'),
    gauge: (name: `dextape_serve_${string}`, help: string, labels: string[], source: () => Iterable<Sample>) =>
      metrics.gauge({ name, help, labels }, source),
    text: () => metrics.text(),
    contentType: metrics.contentType,
  }
}

function samples(counts: ReadonlyMap<string, number>, label: string): Sample[] {
  return [...counts].map(([value, count]) => ({ labels: { [label]: value }, value: count }))
}

/** One series for all operations: it is observed for each request. */
function responseTimes(metrics: Metrics): { add(seconds: number): void } {
  const histogram = metrics.histogram({
    ...{ name: 'dextape_serve_response_seconds', help: 'Time to a complete REST response' },
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  return { add: (seconds) => histogram.observe({}, seconds) }
}
