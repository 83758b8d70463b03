import type { ServedChain } from '../../memory/served-chain.js'
import type { Bar } from '../candle-bars.js'
import type { Order } from '../near-rows.js'
import type { Segment, StoredCandles } from '../stored-candles.js'
import type { HotHistory } from './hot-history.js'

/** The store deletes older second candles; the shortest retention is a day. */
const SECOND_CANDLES_S = 86_400

/** The last (or first) `limit` bars of the segments, ascending; undefined if memory does not hold them all. */
export async function readHotBars(
  hot: HotHistory,
  state: ServedChain,
  candles: StoredCandles,
  segments: readonly Segment[],
  order: Order,
  limit: number,
): Promise<Bar[] | undefined> {
  const floorS = candles.interval === 's1' ? state.nowS - SECOND_CANDLES_S : Number.NEGATIVE_INFINITY
  let bars: Bar[] = []
  for (const segment of order === 'latest' ? segments.toReversed() : segments) {
    if (bars.length >= limit) return bars
    const kept = await hot.candles(state, candles, segment, order)
    const found = kept?.read(segment, order, limit - bars.length, floorS)
    if (found === undefined) return undefined
    bars = bars.length === 0 ? found : order === 'latest' ? [...found, ...bars] : [...bars, ...found]
  }
  return bars
}
