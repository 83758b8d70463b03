/** Times in milliseconds, counted by whole milliseconds, so that millions take no memory. */
const LONGEST_MS = 60_000

export type Latencies = { add(ms: number): void; clear(): void; percentile(share: number): number }
export type Percentiles = { p50: number; p95: number; p99: number }

export function createLatencies(): Latencies {
  const counts = new Uint32Array(LONGEST_MS + 1)
  let total = 0
  return {
    add(ms) {
      const at = Math.min(LONGEST_MS, Math.max(0, Math.round(ms)))
      counts[at] = (counts[at] ?? 0) + 1
      total += 1
    },
    clear() {
      counts.fill(0)
      total = 0
    },
    /** NaN if there are none. */
    percentile(share) {
      let left = Math.ceil(total * share)
      if (left === 0) return Number.NaN
      for (const [ms, count] of counts.entries()) {
        left -= count
        if (left <= 0) return ms
      }
      return LONGEST_MS
    },
  }
}

export function percentilesOf({ percentile }: Latencies): Percentiles {
  return { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) }
}
