/** Whether to use an endpoint: back-off after faults, a circuit breaker after several, and its latency. */
import { type FaultKind, isHarmless, type NodeFault } from './node-fault.js'

const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
/** A rejected key will not work a second later. */
const DENIED_BACKOFF_MS = 15_000
const OPEN_AFTER = 5
/** The share of a new measurement in the average. */
const LATENCY_SHARE = 0.1
const ERROR_SHARE = 0.05

export interface Health {
  succeeded(latencyMs: number): void
  /** `startedMs`: when the request was sent; concurrent faults count once. */
  failed(fault: NodeFault, startedMs: number): void
  /** 0 if it may be used now. */
  waitMs(): number
  /** Smaller is better. `queueMs`: how long the requests ahead take at its rate. */
  score(inFlight: number, queueMs: number): number
  /** Not used until enabled again. */
  disable(reason: string): void
  enable(): void
  setLagging(behindBlocks: number | null): void
  readonly usable: boolean
  readonly healthy: boolean
  readonly lagging: boolean
  readonly reason: string | null
  readonly latencyMs: number | null
  readonly errors: Readonly<Partial<Record<FaultKind, number>>>
}

export function createHealth(nowMs: () => number, random: () => number): Health {
  const errors: Partial<Record<FaultKind, number>> = {}
  let disabled: string | null = null
  let behindBlocks: number | null = null
  let failures = 0
  let lastFault: NodeFault | null = null
  let countedMs = Number.NEGATIVE_INFINITY
  let openUntilMs = 0
  let latencyMs: number | null = null
  let errorShare = 0

  return {
    succeeded(tookMs) {
      failures = 0
      latencyMs = latencyMs === null ? tookMs : latencyMs + (tookMs - latencyMs) * LATENCY_SHARE
      errorShare -= errorShare * ERROR_SHARE
    },
    failed(fault, startedMs) {
      errors[fault.kind] = (errors[fault.kind] ?? 0) + 1
      // Rate limits are handled by the adaptive rate.
      if (isHarmless(fault.kind) || fault.kind === 'rate_limited') return
      lastFault = fault
      errorShare += (1 - errorShare) * ERROR_SHARE
      if (startedMs <= countedMs) return
      countedMs = nowMs()
      failures++
      // The block is not available yet: retry, or use another endpoint, but this one is healthy.
      if (fault.kind === 'unknown_block' || fault.kind === 'lags') return
      const ceilingMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1))
      const backoffMs = fault.kind === 'denied' ? DENIED_BACKOFF_MS : ceilingMs * (0.5 + random() / 2)
      openUntilMs = Math.max(openUntilMs, countedMs + backoffMs)
    },
    waitMs: () => Math.max(0, openUntilMs - nowMs()),
    score: (inFlight, queueMs) => ((latencyMs ?? 50) + 1 + queueMs) * (1 + inFlight / 4) * (1 + 10 * errorShare),
    disable(reason) {
      disabled = reason
    },
    enable() {
      disabled = null
    },
    setLagging(behind) {
      behindBlocks = behind
    },
    get usable() {
      return disabled === null
    },
    get healthy() {
      return disabled === null && behindBlocks === null && failures < OPEN_AFTER
    },
    get lagging() {
      return behindBlocks !== null
    },
    get reason() {
      if (disabled !== null) return disabled
      if (behindBlocks !== null) return `${behindBlocks} blocks behind`
      return failures >= OPEN_AFTER && lastFault !== null ? `${lastFault.kind}: ${lastFault.detail}` : null
    },
    get latencyMs() {
      return latencyMs
    },
    errors,
  }
}
