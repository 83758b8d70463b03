/**
 * The density of trading over time. History is thinned to a fixed number of swaps, the last hours less than the days before;
 * after it the full rate applies.
 */
export type Timeline = {
  startMs: number
  liveMs: number
  /** Swaps a second over all chains, before daily rhythm and bursts. */
  swapsPerS(atMs: number, fullRate: number): number
  /** Time between a chain's slots: its block time, or longer in history to keep blocks few. */
  slotMs(atMs: number, blockMs: number): number
}

export const HISTORY_SWAPS = 30_000
const RECENT_MS = 7_200_000
const RECENT_SHARE = 0.25
/** The cost of a block of history grows with the number of pairs in it: so few blocks, each with several trades per pair. */
const OLDER_BLOCKS = 320
const RECENT_BLOCKS = 160

export function createTimeline(startS: number, historyS: number, historySwaps = HISTORY_SWAPS): Timeline {
  const startMs = startS * 1000
  const historyMs = historyS * 1000
  const liveMs = startMs + historyMs
  const recentMs = Math.min(RECENT_MS, historyMs * RECENT_SHARE)
  const olderMs = historyMs - recentMs
  return {
    startMs,
    liveMs,
    swapsPerS(atMs, fullRate) {
      if (atMs >= liveMs) return fullRate
      const recentSwaps = Math.min(historySwaps * RECENT_SHARE, (fullRate * recentMs) / 1000)
      if (atMs >= liveMs - recentMs) return (recentSwaps * 1000) / recentMs
      const ramp = 0.6 + (0.8 * (atMs - startMs)) / olderMs
      return Math.min(fullRate, (ramp * (historySwaps - recentSwaps) * 1000) / olderMs)
    },
    slotMs(atMs, blockMs) {
      if (atMs >= liveMs) return blockMs
      const wantedMs = atMs >= liveMs - recentMs ? recentMs / RECENT_BLOCKS : olderMs / OLDER_BLOCKS
      return blockMs * Math.max(1, Math.round(wantedMs / blockMs))
    },
  }
}

/** A day's rhythm around 1: quiet at 3, busy at 15 UTC. */
export function rhythmAt(atMs: number): number {
  const hour = (atMs / 3_600_000) % 24
  const fromPeak = Math.abs(hour - 15) > 12 ? 24 - Math.abs(hour - 15) : Math.abs(hour - 15)
  return 1.35 - (0.7 * fromPeak) / 12
}
