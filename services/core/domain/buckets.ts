/** Time buckets of candles: UTC floors, weeks from Monday 00:00. Intervals are addressed by their index in INTERVALS. */
import { INTERVALS, type Interval } from './chains.js'

export const INTERVAL_SECONDS: readonly number[] = [1, 60, 300, 900, 1800, 3600, 7200, 14400, 86400, 604800]
export const intervalSeconds = (interval: Interval): number => INTERVAL_SECONDS[INTERVALS.indexOf(interval)] ?? 1

export const S1 = INTERVALS.indexOf('s1')
export const K1 = INTERVALS.indexOf('k1')
export const K60 = INTERVALS.indexOf('k60')
export const K1440 = INTERVALS.indexOf('k1440')
const K10080 = INTERVALS.indexOf('k10080')

/** 1970-01-05 00:00 UTC, the first Monday. */
const FIRST_MONDAY_S = 345_600

export function bucketStart(interval: number, timeS: number): number {
  const seconds = INTERVAL_SECONDS[interval] ?? 1
  const origin = interval === K10080 ? FIRST_MONDAY_S : 0
  return Math.floor((timeS - origin) / seconds) * seconds + origin
}

/** Exclusive end of the bucket that starts at `timeS`. */
export function bucketEnd(interval: number, timeS: number): number {
  return timeS + (INTERVAL_SECONDS[interval] ?? 1)
}
