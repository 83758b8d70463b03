import { INTERVAL_SECONDS } from '../../core/domain/buckets.js'
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import type { Candle } from '../../core/domain/records.js'

/** A candle as pushed, in one array of numbers: a third of the memory of an object. */
export type PackedCandle = readonly number[]

/** Index of each figure: USD (u), then the native coin (m). */
export const AT = {
  ...{ interval: 0, timeS: 1, removed: 2 },
  ...{ openU: 3, highU: 4, lowU: 5, closeU: 6, volumeU: 7 },
  ...{ openM: 8, highM: 9, lowM: 10, closeM: 11, volumeM: 12 },
} as const

export type CandleFigures = Pick<
  Candle,
  | 'open_u'
  | 'high_u'
  | 'low_u'
  | 'close_u'
  | 'volume_u'
  | 'open_m'
  | 'high_m'
  | 'low_m'
  | 'close_m'
  | 'volume_m'
  | 'interval'
  | 'time'
  | 'removed'
>

export function packCandle(candle: CandleFigures): PackedCandle {
  return [
    INTERVALS.indexOf(candle.interval as Interval),
    candle.time,
    candle.removed ? 1 : 0,
    candle.open_u,
    candle.high_u,
    candle.low_u,
    candle.close_u,
    candle.volume_u,
    candle.open_m,
    candle.high_m,
    candle.low_m,
    candle.close_m,
    candle.volume_m,
  ]
}

export function figureOf(candle: PackedCandle, at: number): number {
  return candle[at] ?? Number.NaN
}

export function intervalOf(candle: PackedCandle): Interval {
  return INTERVALS[figureOf(candle, AT.interval)] ?? 's1'
}

/** Exclusive end of the bucket. */
export function endOf(candle: PackedCandle): number {
  return figureOf(candle, AT.timeS) + (INTERVAL_SECONDS[figureOf(candle, AT.interval)] ?? 1)
}

export function isRemoved(candle: PackedCandle): boolean {
  return candle[AT.removed] === 1
}
