/** Windows lose buckets as time passes, even for pairs that do not trade: these are published again each new minute. */
import { bucketStart, K1 } from '../../core/domain/buckets.js'
import type { FoldState } from '../state/fold-state.js'
import { MINUTE_WINDOWS } from '../state/rolling-windows.js'

const MINUTE_S = 60
/** For longer ranges the table of minutes is walked instead of the range. */
const WALK_FROM = 2000

export function noteTraded(state: FoldState, pair: number, timeS: number): void {
  note(state, { timeS: bucketStart(K1, timeS), pair })
}

export type TradedAt = { timeS: number; pair: number }

/** The same from restored buckets, after a restart. */
export function noteRestoredTrades(state: FoldState, minutes: TradedAt[]): void {
  for (const traded of minutes.sort((a, b) => a.timeS - b.timeS || a.pair - b.pair)) note(state, traded)
}

function note({ tradedMinutes }: FoldState, { timeS, pair }: TradedAt): void {
  const pairs = tradedMinutes.get(timeS)
  if (pairs === undefined) tradedMinutes.set(timeS, new Set([pair]))
  else pairs.add(pair)
}

/** Pairs, not touched by this block, one of whose windows lost a bucket since the block before; by id. */
export function findMovedWindows(state: FoldState, fromS: number, touched: ReadonlyMap<number, unknown>): number[] {
  const from = bucketStart(K1, fromS)
  const to = bucketStart(K1, state.nowS)
  if (to === from || fromS === 0) return []
  const moved = new Set<number>()
  for (const minutes of MINUTE_WINDOWS) {
    collect(state, touched, from - minutes * MINUTE_S, to - minutes * MINUTE_S, moved)
  }
  dropMinutes(state.tradedMinutes, state.finalNowS - 1445 * MINUTE_S)
  return [...moved].sort((a, b) => a - b)
}

/** Pairs with a bucket after `afterS` and not after `untilS`; a noted trade may have been undone since. */
function collect(
  { tradedMinutes, pairs }: FoldState,
  touched: ReadonlyMap<number, unknown>,
  afterS: number,
  untilS: number,
  into: Set<number>,
): void {
  const take = (noted: ReadonlySet<number>) => {
    for (const pair of noted) {
      if (touched.has(pair) || into.has(pair)) continue
      if (pairs.active[pair]?.windows.minutes.hasBetween(afterS, untilS)) into.add(pair)
    }
  }
  if ((untilS - afterS) / MINUTE_S > WALK_FROM) {
    for (const [timeS, noted] of tradedMinutes) if (timeS > afterS && timeS <= untilS) take(noted)
    return
  }
  for (let timeS = afterS + MINUTE_S; timeS <= untilS; timeS += MINUTE_S) {
    const noted = tradedMinutes.get(timeS)
    if (noted !== undefined) take(noted)
  }
}

/** Minutes are nearly in order, so the walk ends at the first one to keep. */
function dropMinutes(table: Map<number, unknown>, beforeS: number): void {
  for (const timeS of table.keys()) {
    if (timeS >= beforeS) return
    table.delete(timeS)
  }
}
