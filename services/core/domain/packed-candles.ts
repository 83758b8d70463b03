/**
 * The candles of a pair's entry in an update, as one array of numbers. An update has ten for every pair that traded: as objects
 * they would be most of what the fold, the log and serve allocate.
 */
import { bucketEnd } from './buckets.js'
import { INTERVALS, type Interval } from './chains.js'

/** One bucket in USD (u), native coin (m) and quote token (r); NaN: no price in that currency yet. */
export type Candle = {
  interval: string
  /** Bucket start. */
  time: number
  open_u: number
  first_u: number
  high_u: number
  low_u: number
  close_u: number
  volume_u: number
  open_m: number
  first_m: number
  high_m: number
  low_m: number
  close_m: number
  volume_m: number
  open_r: number
  first_r: number
  high_r: number
  low_r: number
  close_r: number
  volume_r: number
  /** A retract ended it. */
  removed: boolean
}

/** CANDLE_WIDTH numbers each. */
export type PackedCandles = Float64Array

/** One candle of such an array, from position `at`. */
export type PackedCandle = { readonly data: PackedCandles; readonly at: number }

/** Where a candle has each figure; `interval` is its index in INTERVALS. */
export const AT = {
  ...{ interval: 0, timeS: 1, removed: 2 },
  ...{ openU: 3, firstU: 4, highU: 5, lowU: 6, closeU: 7, volumeU: 8 },
  ...{ openM: 9, firstM: 10, highM: 11, lowM: 12, closeM: 13, volumeM: 14 },
  ...{ openR: 15, firstR: 16, highR: 17, lowR: 18, closeR: 19, volumeR: 20 },
} as const

/** Prices and volumes, in this order, follow the three numbers that say which candle it is. */
export const CANDLE_FIGURES = [
  ...(['open_u', 'first_u', 'high_u', 'low_u', 'close_u', 'volume_u'] as const),
  ...(['open_m', 'first_m', 'high_m', 'low_m', 'close_m', 'volume_m'] as const),
  ...(['open_r', 'first_r', 'high_r', 'low_r', 'close_r', 'volume_r'] as const),
] satisfies (keyof Candle)[]
export const FIRST_FIGURE = AT.openU
export const CANDLE_WIDTH = FIRST_FIGURE + CANDLE_FIGURES.length

export const NO_CANDLES: PackedCandles = new Float64Array(0)

export const candleCount = (packed: PackedCandles): number => packed.length / CANDLE_WIDTH

export function packCandles(candles: readonly Candle[]): PackedCandles {
  const packed = new Float64Array(candles.length * CANDLE_WIDTH)
  for (const [index, candle] of candles.entries()) {
    const at = index * CANDLE_WIDTH
    const interval = INTERVALS.indexOf(candle.interval as Interval)
    if (interval < 0) throw new Error(`unknown interval ${candle.interval}`)
    packed[at + AT.interval] = interval
    packed[at + AT.timeS] = candle.time
    packed[at + AT.removed] = candle.removed ? 1 : 0
    CANDLE_FIGURES.forEach((name, n) => {
      packed[at + FIRST_FIGURE + n] = candle[name]
    })
  }
  return packed
}

export function unpackCandles(packed: PackedCandles): Candle[] {
  return Array.from({ length: candleCount(packed) }, (_, index) =>
    unpackCandle({ data: packed, at: index * CANDLE_WIDTH }),
  )
}

export function unpackCandle(candle: PackedCandle): Candle {
  const figures = Object.fromEntries(CANDLE_FIGURES.map((name, n) => [name, figureOf(candle, FIRST_FIGURE + n)]))
  return {
    interval: intervalOf(candle),
    time: figureOf(candle, AT.timeS),
    ...(figures as Record<(typeof CANDLE_FIGURES)[number], number>),
    removed: isRemoved(candle),
  }
}

export function figureOf({ data, at }: PackedCandle, figure: number): number {
  return data[at + figure] as number
}

export function intervalOf(candle: PackedCandle): Interval {
  return INTERVALS[figureOf(candle, AT.interval)] ?? 's1'
}

/** Exclusive end of the bucket. */
export function endAt(data: PackedCandles, at: number): number {
  return bucketEnd(data[at + AT.interval] as number, data[at + AT.timeS] as number)
}

export function isRemoved(candle: PackedCandle): boolean {
  return figureOf(candle, AT.removed) === 1
}
