/** Candles as bars: their gaps, and live changes. Pure. */
import type { Candle, KlinePush } from '@dextape/client'

export const INTERVALS = [
  { value: 's1', label: '1s', seconds: 1 },
  { value: 'k1', label: '1m', seconds: 60 },
  { value: 'k5', label: '5m', seconds: 300 },
  { value: 'k15', label: '15m', seconds: 900 },
  { value: 'k30', label: '30m', seconds: 1800 },
  { value: 'k60', label: '1h', seconds: 3600 },
  { value: 'k120', label: '2h', seconds: 7200 },
  { value: 'k240', label: '4h', seconds: 14_400 },
  { value: 'k1440', label: '1d', seconds: 86_400 },
  { value: 'k10080', label: '1w', seconds: 604_800 },
] as const
export type IntervalName = (typeof INTERVALS)[number]['value']
export type Currency = 'u' | 'm' | 'r'

export type Bar = { timeS: number; open: number; high: number; low: number; close: number; volume: number }
/** A place on the time axis without a bar. */
export type Place = Bar | { timeS: number; skippedS?: number }

export const isBar = (place: Place): place is Bar => 'open' in place

/** Empty buckets drawn in a row; a longer gap is cut short and marked. */
const MAX_EMPTY = 300
const KEPT_EMPTY = 12

export function barOf({ time, open, high, low, close, volume }: Candle): Bar {
  return {
    timeS: time,
    ...{ open: Number(open), high: Number(high), low: Number(low), close: Number(close), volume: Number(volume) },
  }
}

/** The bar of a push; undefined where pushes have none of this currency. */
export function pushedBar({ kline }: KlinePush, currency: Currency): Bar | undefined {
  if (currency === 'r') return undefined
  return barOf(currency === 'u' ? kline.usd : kline.eth)
}

/** Equal spacing is equal time: empty buckets get a place. */
export function withGaps(bars: readonly Bar[], stepS: number): Place[] {
  const places: Place[] = []
  let before: Bar | undefined
  for (const bar of bars) {
    if (before !== undefined) places.push(...gapBetween(before.timeS, bar.timeS, stepS))
    places.push(bar)
    before = bar
  }
  return places
}

function gapBetween(fromS: number, toS: number, stepS: number): Place[] {
  const missing = Math.round((toS - fromS) / stepS) - 1
  if (missing <= 0) return []
  if (missing <= MAX_EMPTY) return Array.from({ length: missing }, (_, at) => ({ timeS: fromS + (at + 1) * stepS }))
  const kept = Array.from({ length: KEPT_EMPTY }, (_, at): Place => ({ timeS: fromS + (at + 1) * stepS }))
  const middle = kept[KEPT_EMPTY / 2]
  if (middle !== undefined) kept[KEPT_EMPTY / 2] = { timeS: middle.timeS, skippedS: toS - fromS }
  return kept
}

/** Bars in order of time; a later one of the same time replaces. */
export function putBar(bars: Bar[], bar: Bar): void {
  let at = bars.length
  while (at > 0 && (bars[at - 1]?.timeS ?? 0) > bar.timeS) at -= 1
  if (bars[at - 1]?.timeS === bar.timeS) bars[at - 1] = bar
  else bars.splice(at, 0, bar)
}
