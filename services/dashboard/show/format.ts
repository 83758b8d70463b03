/** Figures as text, by the visitor's locale. */
const SUBSCRIPT = '₀₁₂₃₄₅₆₇₈₉'
const MINUTE_S = 60
const HOUR_S = 3600
const DAY_S = 86_400
const YEAR_S = 365 * DAY_S
/** Zeros after the point that are counted rather than written. */
const COUNTED_ZEROS = 4
const NONE = '–'

const formats = new Map<string, Intl.NumberFormat>()

function grouped(value: number, digits: number): string {
  const known = formats.get(String(digits))
  const format =
    known ?? new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits })
  if (known === undefined) formats.set(String(digits), format)
  return format.format(value)
}

export type Figure = string | number | null | undefined

/** Unknown values are null or empty. */
export function toNumber(value: Figure): number {
  return value === null || value === undefined || value === '' ? Number.NaN : Number(value)
}

/** Five significant digits; long runs of zeros are counted: 0.0₇1234 has seven. */
export function price(value: Figure): string {
  const number = toNumber(value)
  if (Number.isNaN(number)) return NONE
  const size = Math.abs(number)
  if (size === 0) return '0'
  if (size >= 1e9) return short(number)
  if (size >= 1000) return grouped(number, 2)
  if (size >= 1) return grouped(number, size >= 100 ? 3 : 4)
  const [digits = '', exponent = '0'] = size.toExponential(3).split('e')
  const zeros = -Number(exponent) - 1
  if (zeros < COUNTED_ZEROS) return grouped(number, zeros + 4)
  const count = [...String(zeros)].map((digit) => SUBSCRIPT[Number(digit)]).join('')
  return `${number < 0 ? '−' : ''}${grouped(0, 1).slice(0, 2)}0${count}${digits.replace('.', '')}`
}

export const priceUsd = (value: Figure): string => {
  const text = price(value)
  return text === NONE ? text : `$${text}`
}

/** An amount of money for a table: whole numbers once cents stop mattering. */
export function usd(value: Figure): string {
  const number = toNumber(value)
  if (Number.isNaN(number)) return NONE
  const size = Math.abs(number)
  const sign = number < 0 ? '−' : ''
  if (size > 0 && size < 0.01) return `${sign}<$${grouped(0.01, 2)}`
  if (size >= 1e6) return `${sign}$${short(size)}`
  return `${sign}$${grouped(size, size >= 1000 ? 0 : 2)}`
}

export function usdShort(value: Figure): string {
  const number = toNumber(value)
  if (Number.isNaN(number)) return NONE
  return `${number < 0 ? '−' : ''}$${short(Math.abs(number))}`
}

const UNITS: readonly [number, string][] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
]

const ROUNDED_UP = 0.9995

export function short(value: Figure): string {
  const number = toNumber(value)
  if (Number.isNaN(number)) return NONE
  const size = Math.abs(number)
  if (size >= 1e15) return number.toExponential(2)
  for (const [unit, letter] of UNITS) {
    // From 999.5 of the unit below: it would be rounded to 1,000 of it.
    if (size >= unit * ROUNDED_UP)
      return `${grouped(number / unit, size / unit >= 100 ? 0 : size / unit >= 10 ? 1 : 2)}${letter}`
  }
  if (size > 0 && size < 0.01) return price(number)
  return grouped(number, size >= 100 || Number.isInteger(number) ? 0 : 2)
}

export const whole = (value: Figure): string => {
  const number = toNumber(value)
  return Number.isNaN(number) ? NONE : grouped(number, 0)
}

export function percent(value: Figure): string {
  const number = toNumber(value)
  if (Number.isNaN(number)) return NONE
  const size = Math.abs(number)
  const text = size >= 10_000 ? short(size) : grouped(size, size >= 100 ? 0 : size >= 10 ? 1 : 2)
  return `${number > 0 ? '+' : number < 0 ? '−' : ''}${text}%`
}

/** A part of one: 0.0312 is 3.12%. */
export const share = (value: Figure): string => {
  const number = toNumber(value)
  return Number.isNaN(number) ? NONE : `${grouped(number * 100, number >= 0.1 ? 1 : 2)}%`
}

export function directionOf(value: Figure): 'up' | 'down' | 'flat' {
  const number = toNumber(value)
  return number > 0 ? 'up' : number < 0 ? 'down' : 'flat'
}

export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < MINUTE_S) return `${whole}s`
  if (whole < HOUR_S) return `${Math.floor(whole / MINUTE_S)}m`
  if (whole < 2 * DAY_S) return `${Math.floor(whole / HOUR_S)}h`
  return whole < 2 * YEAR_S ? `${Math.floor(whole / DAY_S)}d` : `${Math.floor(whole / YEAR_S)}y`
}

export function bytes(value: Figure): string {
  const number = toNumber(value)
  if (Number.isNaN(number)) return NONE
  if (number < 1e6) return `${grouped(number / 1e3, number < 1e4 ? 1 : 0)} kB`
  return number < 1e9 ? `${grouped(number / 1e6, 1)} MB` : `${grouped(number / 1e9, 2)} GB`
}

const pad = (value: number): string => String(value).padStart(2, '0')

export function clockTime(timeS: number, isLocal: boolean): string {
  const date = new Date(timeS * 1000)
  return isLocal
    ? `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
    : date.toISOString().slice(11, 19)
}

export function dateTime(timeS: number, isLocal: boolean): string {
  if (timeS <= 0) return NONE
  const date = new Date(timeS * 1000)
  const day = isLocal
    ? `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
    : date.toISOString().slice(0, 10)
  return `${day} ${clockTime(timeS, isLocal)}${isLocal ? '' : ' UTC'}`
}

export const shortAddress = (address: string): string =>
  address.length <= 13 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`
