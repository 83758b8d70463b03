import { Type } from '@sinclair/typebox'
import { amountOf } from '../../core/domain/money.js'

/** Field types of responses. Nullable ones are type arrays, which the serialiser handles without trying alternatives. */
export const text = Type.String()
export const int = Type.Integer()
export const num = Type.Number()
export const flag = Type.Boolean()
export const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
export const intOrNull = Type.Unsafe<number | null>({ type: ['integer', 'null'] })
export const numOrNull = Type.Unsafe<number | null>({ type: ['number', 'null'] })
/** A decimal string; null: unknown. */
export const decimal = textOrNull

/** Schema properties that share one type. */
export function fieldsOf<Name extends string, Kind>(names: readonly Name[], kind: Kind): Record<Name, Kind> {
  return Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, Kind>
}

export const jsonNumberOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** Doubles from here to below the next have no exponent as text. */
const SMALLEST_PLAIN = 1e-6
const SMALLEST_LONG = 1e21

/** Formats a finite double as a plain decimal, without an exponent, that parses back to the same double. */
export function plainDecimal(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`plainDecimal requires a finite number, got ${value}`)
  const text = String(value)
  const size = Math.abs(value)
  if (size >= SMALLEST_PLAIN && size < SMALLEST_LONG) return text
  const exponentAt = text.indexOf('e')
  if (exponentAt < 0) return text
  const exponent = Number(text.slice(exponentAt + 1))
  const negative = text.startsWith('-')
  const mantissa = text.slice(negative ? 1 : 0, exponentAt)
  const [whole = '', fraction = ''] = mantissa.split('.')
  return (negative ? '-' : '') + shifted(whole, fraction, exponent)
}

/** Null for NaN (unknown) or infinity. */
export function decimalOrNull(value: number): string | null {
  return Number.isFinite(value) ? plainDecimal(value) : null
}

/** Empty for NaN (unknown) or infinity, where the interface requires a string. */
export function decimalOrEmpty(value: number): string {
  return Number.isFinite(value) ? plainDecimal(value) : ''
}

function shifted(whole: string, fraction: string, exponent: number): string {
  const digits = whole + fraction
  const pointAt = whole.length + exponent
  if (pointAt <= 0) return `0.${'0'.repeat(-pointAt)}${digits}`
  if (pointAt >= digits.length) return digits + '0'.repeat(pointAt - digits.length)
  return `${digits.slice(0, pointAt)}.${digits.slice(pointAt)}`
}

/** Applies decimals to a raw integer, exactly: `rawToDecimal('24975', 5)` is `0.24975`. */
export function rawToDecimal(raw: string, decimals: number): string {
  const isNegative = raw.charCodeAt(0) === MINUS
  const firstAt = firstDigitAt(raw, isNegative ? 1 : 0)
  const digits = firstAt === 0 ? raw : raw.slice(firstAt)
  const sign = isNegative && digits !== '0' ? '-' : ''
  if (decimals <= 0) return sign + (digits === '0' ? digits : digits + '0'.repeat(-decimals))
  const pointAt = digits.length - decimals
  let end = digits.length
  while (end > 0 && end > pointAt && digits.charCodeAt(end - 1) === ZERO) end -= 1
  if (end === 0) return '0'
  if (pointAt <= 0) return `${sign}0.${'0'.repeat(-pointAt)}${digits.slice(0, end)}`
  return end === pointAt
    ? sign + digits.slice(0, pointAt)
    : `${sign}${digits.slice(0, pointAt)}.${digits.slice(pointAt, end)}`
}

const MINUS = '-'.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)

/** After leading zeros; the last digit always counts. */
function firstDigitAt(raw: string, from: number): number {
  let at = from
  while (at < raw.length - 1 && raw.charCodeAt(at) === ZERO) at += 1
  return at
}

/** Null if the raw amount or the decimals are unknown: decimals are never guessed. */
export function rawOrNull(raw: string | null, decimals: number | null): string | null {
  return raw === null || decimals === null ? null : rawToDecimal(raw, decimals)
}

export function rawOrEmpty(raw: string | null, decimals: number | null): string {
  return rawOrNull(raw, decimals) ?? ''
}

/** As a double; NaN if unknown. */
export function rawToNumber(raw: string | null, decimals: number | null): number {
  return raw === null || decimals === null ? Number.NaN : amountOf(raw, decimals)
}

/** Further digits are rounding noise: 24.999999999999993 for 25. */
const SIGNIFICANT_DIGITS = 12

/** Percent change between two prices; NaN if either is unknown or the base is 0. */
export function percentChange(from: number, to: number): number {
  return from > 0 ? Number((((to - from) / from) * 100).toPrecision(SIGNIFICANT_DIGITS)) : Number.NaN
}

export function changeOrNull(from: number, to: number): string | null {
  return decimalOrNull(percentChange(from, to))
}

export function changeOrEmpty(from: number, to: number): string {
  return decimalOrEmpty(percentChange(from, to))
}

/** Printable ASCII without quotes and backslashes: nothing that JSON escapes. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/

/** Whether JSON has it as it is, between quotes. */
export function isPlainText(value: string): boolean {
  return PLAIN_TEXT.test(value)
}

/** A text as JSON, without its quotes. */
export function escapedText(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

/** A text as JSON. Quicker than JSON.stringify for addresses and hashes, which have nothing to escape. */
export function quotedText(value: string): string {
  return isPlainText(value) ? `"${value}"` : JSON.stringify(value)
}
