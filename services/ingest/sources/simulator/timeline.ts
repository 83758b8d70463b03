/**
 * How dense the trading is at a time. History is thinned to a fixed number of swaps, the last hours less than the days
 * before; from its end on the full rate holds.
 */
export type Timeline = {
  startMs: number
  liveMs: number
  /** Swaps a second over all chains, before daily rhythm and bursts. */
  swapsPerS(atMs: number, fullRate: number): number
}

export const HISTORY_SWAPS = 60_000
const RECENT_MS = 7_200_000
const RECENT_SHARE = 0.25

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
      if (atMs >= liveMs - recentMs) return Math.min(fullRate, (historySwaps * RECENT_SHARE * 1000) / recentMs)
      const ramp = 0.6 + (0.8 * (atMs - startMs)) / olderMs
      return Math.min(fullRate, (ramp * historySwaps * (1 - RECENT_SHARE) * 1000) / olderMs)
    },
  }
}

/** A day's rhythm around 1: quiet at 3, busy at 15 UTC. */
export function rhythmAt(atMs: number): number {
  const hour = (atMs / 3_600_000) % 24
  const fromPeak = Math.abs(hour - 15) > 12 ? 24 - Math.abs(hour - 15) : Math.abs(hour - 15)
  return 1.35 - (0.7 * fromPeak) / 12
}

const THIN_BLOCK_SWAPS = 10

/** The time to a chain's next slot: its block time, or in thin history as long as makes a block worth it. */
export function slotMs(blockMs: number, chainSwapsPerS: number, isLive: boolean): number {
  if (isLive) return blockMs
  const blocks = Math.round((THIN_BLOCK_SWAPS * 1000) / chainSwapsPerS / blockMs)
  return blockMs * Math.max(1, blocks)
}
