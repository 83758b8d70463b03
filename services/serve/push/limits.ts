import type { PushLimits } from '../serve-deps.js'

const DEFAULT_LIMITS: PushLimits = {
  slowBytes: 1_048_576,
  slowCheckMs: 100,
  maxSubscriptionsPerSocket: 1000,
  maxItemsPerSubscription: 1000,
  maxBatch: 100,
  maxMessageBytes: 262_144,
  ringSeconds: 300,
  ringBytes: 67_108_864,
  keyCheckMs: 10_000,
}

export function pushLimits(given: Partial<PushLimits> = {}): PushLimits {
  return { ...DEFAULT_LIMITS, ...given }
}
