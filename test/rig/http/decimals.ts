/** Compares strings in answers with numbers of the reference, where NaN is unknown. */

import { powerOfTen } from '../reference/amounts.js'
import { differences } from '../reference/compare.js'

/** Expected fields: a number for a decimal string or a JSON number (NaN for null), other values as they are. */
export type Expected = Record<string, string | number | null | bigint>

const PLAIN = /^-?(0|[1-9]\d*)(\.\d+)?$/

/** Numbers are plain decimal strings on the wire, except counts. */
export function readNumber(value: unknown): unknown {
  if (value === null) return Number.NaN
  if (typeof value === 'string' && PLAIN.test(value)) return Number(value)
  return value
}

/** Paths where an answer differs; fields in `unchecked` may have any value, other extra fields count as differences. */
export function answerDifferences(
  answer: object,
  expected: Expected,
  unchecked: readonly string[],
  path = '',
): string[] {
  const got: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(answer)) {
    if (unchecked.includes(field)) continue
    got[field] = typeof expected[field] === 'number' ? readNumber(value) : value
  }
  return differences(got, expected, path)
}

/** A raw integer with its decimals applied, exact to the last digit. */
export function exactDecimal(raw: string | null, decimals: number | null): string | null {
  if (raw === null || decimals === null) return null
  const unit = 10n ** BigInt(decimals)
  const whole = BigInt(raw) / unit
  const fraction = (BigInt(raw) % unit).toString().padStart(decimals, '0').replace(/0+$/, '')
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`
}

export const amountOf = (raw: string | null, decimals: number | null): number =>
  raw === null || decimals === null ? Number.NaN : Number(raw) / powerOfTen(decimals)

/** In percent; answers have twelve digits, since further digits are rounding noise. */
export function changeOf(before: number, after: number): number {
  return before > 0 ? Number((((after - before) / before) * 100).toPrecision(12)) : Number.NaN
}
