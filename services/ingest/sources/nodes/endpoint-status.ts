/** What operators see of the endpoints, in `status` and on /metrics. Names are hosts, never URLs. */
import type { Metrics, Sample } from '../../../core/runtime/metrics.js'
import type { Endpoint } from './endpoint.js'
import type { FaultKind } from './node-fault.js'

export type EndpointStatus = {
  name: string
  healthy: boolean
  /** Why it is not. */
  reason: string | null
  latencyMs: number | null
  requests: number
  errors: Readonly<Partial<Record<FaultKind, number>>>
  bytesReceived: number
  head: number | null
  /** Current limits: blocks per range, requests per batch, addresses per filter. */
  range: number
  batch: number
  addresses: number
  /** Requests a second; null: not limited. */
  perS: number | null
}

export const statusOf = (endpoint: Endpoint): EndpointStatus => ({
  name: endpoint.name,
  healthy: endpoint.health.healthy,
  reason: endpoint.health.reason,
  latencyMs: endpoint.health.latencyMs,
  requests: endpoint.requests,
  errors: { ...endpoint.health.errors },
  bytesReceived: endpoint.bytesReceived,
  head: endpoint.head?.number ?? null,
  range: endpoint.limits.span,
  batch: endpoint.limits.batch,
  addresses: endpoint.limits.addresses,
  perS: Number.isFinite(endpoint.perS) ? endpoint.perS : null,
})

export function registerEndpointMetrics(metrics: Metrics, chain: string, endpoints: () => EndpointStatus[]): void {
  const each = (value: (endpoint: EndpointStatus) => number) =>
    function* (): Iterable<Sample> {
      for (const endpoint of endpoints()) yield { labels: { chain, node: endpoint.name }, value: value(endpoint) }
    }
  const labels = ['chain', 'node']
  metrics.counter(
    { name: 'dextape_node_requests_total', help: 'Requests sent to a node, each of a batch counted', labels },
    each(({ requests }) => requests),
  )
  metrics.counter(
    { name: 'dextape_node_received_bytes_total', help: 'Bytes received from a node', labels },
    each(({ bytesReceived }) => bytesReceived),
  )
  metrics.counter(
    {
      name: 'dextape_node_errors_total',
      help: 'Failed or rejected responses, by kind',
      labels: [...labels, 'kind'],
    },
    function* () {
      for (const { name: node, errors } of endpoints())
        for (const [kind, value] of Object.entries(errors)) yield { labels: { chain, node, kind }, value }
    },
  )
  metrics.gauge(
    { name: 'dextape_node_healthy', help: '1 while the node is in use, 0 while it is backed off', labels },
    each(({ healthy }) => (healthy ? 1 : 0)),
  )
  metrics.gauge(
    { name: 'dextape_node_head_blocks', help: 'Last head a node reported', labels },
    each(({ head }) => head ?? 0),
  )
  metrics.gauge(
    { name: 'dextape_node_latency_seconds', help: 'Response time of a node', labels },
    each(({ latencyMs }) => (latencyMs ?? 0) / 1000),
  )
}
