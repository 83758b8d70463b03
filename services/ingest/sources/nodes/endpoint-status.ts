/** What an operator may see of the endpoints: names are hosts, never URLs. */
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
  /** The widest range of blocks, the longest batch and the most addresses it is asked for at present. */
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
