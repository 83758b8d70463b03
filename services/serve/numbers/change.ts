import { decimalOrEmpty, decimalOrNull } from './plain-decimal.js'

/** Digits beyond these are noise of the subtraction: 24.999999999999993 for 25. */
const SIGNIFICANT_DIGITS = 12

/** Percent from one price to another; NaN where either is unknown or the base is 0. */
export function percentChange(from: number, to: number): number {
  return from > 0 ? Number((((to - from) / from) * 100).toPrecision(SIGNIFICANT_DIGITS)) : Number.NaN
}

export function changeOrNull(from: number, to: number): string | null {
  return decimalOrNull(percentChange(from, to))
}

export function changeOrEmpty(from: number, to: number): string {
  return decimalOrEmpty(percentChange(from, to))
}
