/** How long a block takes from its source to the clients, stage by stage. */
import type { Metrics } from './metrics.js'

/**
 * `append`: block arrived → in the log. `fold`: → its update in the log. `observe`: → applied where pushes are made.
 * `write`: → its pushes handed to the sockets. `total`: block arrived → its pushes handed to the sockets.
 */
export type Stage = 'append' | 'fold' | 'observe' | 'write' | 'total'

export interface StageLatency {
  observe(stage: Stage, sinceMs: number): void
}

const BUCKETS_S = [...[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1], ...[0.25, 0.5, 1, 2.5, 5, 10]]

export function createStageLatency(metrics: Metrics): StageLatency {
  const histogram = metrics.histogram({
    name: 'dextape_stage_latency_seconds',
    help: 'Time of a block in each stage, from its source to the sockets',
    labels: ['stage'],
    buckets: BUCKETS_S,
  })
  return {
    // Threads have separate clocks that may differ by a fraction of a millisecond.
    observe: (stage, sinceMs) => histogram.observe({ stage }, Math.max(0, wallMs() - sinceMs) / 1000),
  }
}

/** Wall-clock time with fractions, comparable between threads. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now()
}
