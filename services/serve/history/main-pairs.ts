import type { ServedChain } from '../memory/served-chain.js'
import type { HistoryInterval } from './candle-bars.js'
import type { HistorySources } from './hot/hot-history.js'
import type { Segment } from './stored-candles.js'
import { readMainPairSwitches } from './stored-main-pairs.js'

/** Splits a token's history by main pair: each bucket belongs to the pair that is main at its end. */
export async function mainPairSegments(
  sources: HistorySources,
  state: ServedChain,
  token: string,
  interval: HistoryInterval,
): Promise<Segment[]> {
  const segments: Segment[] = []
  const kept = await sources.hot.mainPairs(state, token)
  const switches = kept?.all ?? (await readMainPairSwitches(sources.store, state, token))
  for (const { pair, timeS } of switches) {
    const fromS = interval.startOf(timeS)
    // A later switch in the same bucket, or one with an earlier time, replaces what it overlaps.
    while ((segments.at(-1)?.fromS ?? -1) >= fromS) segments.pop()
    const last = segments.at(-1)
    if (last !== undefined) last.toS = fromS - 1
    segments.push({ pair: pair ?? '', fromS, toS: Number.MAX_SAFE_INTEGER })
  }
  return segments.filter(({ pair }) => pair !== '')
}
