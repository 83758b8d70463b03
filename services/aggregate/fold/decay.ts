/** Windows lose buckets as time goes on, also those of pairs that do not trade: their figures are told again. */
import { bucketStart, K1 } from '../../core/domain/buckets.js'
import type { ChainState } from '../state/chain-state.js'
import { MINUTE_WINDOWS, SECOND_WINDOWS } from '../state/windows.js'

const MINUTE_S = 60
/** Past this the table of seconds or minutes is walked instead of the range. */
const WALK_FROM = 2000

export function noteTraded(state: ChainState, pair: number, timeS: number): void {
  note(state.tradedSeconds, timeS, pair)
  note(state.tradedMinutes, bucketStart(K1, timeS), pair)
}

export type TradedAt = { timeS: number; pair: number }

/** The same from kept buckets, after a restart. */
export function noteTradedAgain(state: ChainState, seconds: TradedAt[], minutes: TradedAt[]): void {
  const byTime = (a: TradedAt, b: TradedAt) => a.timeS - b.timeS || a.pair - b.pair
  for (const { timeS, pair } of seconds.sort(byTime)) note(state.tradedSeconds, timeS, pair)
  for (const { timeS, pair } of minutes.sort(byTime)) note(state.tradedMinutes, timeS, pair)
}

function note(table: Map<number, number[]>, timeS: number, pair: number): void {
  const pairs = table.get(timeS)
  if (pairs === undefined) table.set(timeS, [pair])
  else if (pairs.at(-1) !== pair) pairs.push(pair)
}

/** Pairs, not traded in this block, one of whose windows lost a bucket since the block before; by id. */
export function findLostBuckets(state: ChainState, fromS: number, traded: ReadonlyMap<number, unknown>): number[] {
  const toS = state.nowS
  if (toS === fromS || fromS === 0) return []
  const candidates = new Set<number>()
  for (const length of SECOND_WINDOWS) collect(state.tradedSeconds, fromS - length, toS - length, 1, candidates)
  const fromMinuteS = bucketStart(K1, fromS)
  const toMinuteS = bucketStart(K1, toS)
  if (toMinuteS > fromMinuteS) {
    for (const minutes of MINUTE_WINDOWS) {
      const lengthS = minutes * MINUTE_S
      collect(state.tradedMinutes, fromMinuteS - lengthS, toMinuteS - lengthS, MINUTE_S, candidates)
    }
    forget(state.tradedSeconds, state.finalNowS - 400)
    forget(state.tradedMinutes, state.finalNowS - 1445 * MINUTE_S)
  }
  const lost: number[] = []
  for (const pair of candidates) {
    if (!traded.has(pair) && state.pairs.active[pair]?.windows.lostBucket(fromS, toS)) lost.push(pair)
  }
  return lost.sort((a, b) => a - b)
}

/** Pairs noted after `afterS` and not after `untilS`. */
function collect(table: Map<number, number[]>, afterS: number, untilS: number, stepS: number, into: Set<number>): void {
  if ((untilS - afterS) / stepS > WALK_FROM) {
    for (const [timeS, pairs] of table) if (timeS > afterS && timeS <= untilS) for (const pair of pairs) into.add(pair)
    return
  }
  for (let timeS = afterS + stepS; timeS <= untilS; timeS += stepS) {
    for (const pair of table.get(timeS) ?? []) into.add(pair)
  }
}

/** Seconds and minutes come nearly in order, so the walk ends at the first young one. */
function forget(table: Map<number, number[]>, beforeS: number): void {
  for (const timeS of table.keys()) {
    if (timeS >= beforeS) return
    table.delete(timeS)
  }
}
