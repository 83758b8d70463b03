const SUBSCRIPT = '₀₁₂₃₄₅₆₇₈₉'
const MINUTE_S = 60
const HOUR_S = 3600
const DAY_S = 86_400

/** Five significant digits; long runs of zeros are counted: 0.0₇1234 has seven. */
export function price(value) {
  const number = toNumber(value)
  if (Number.isNaN(number)) return '–'
  const size = Math.abs(number)
  if (size === 0) return '0'
  if (size >= 1000) return grouped(number, 2)
  if (size >= 1) return grouped(number, size >= 100 ? 3 : 4)
  const zeros = -Math.floor(Math.log10(size)) - 1
  if (zeros < 3) return number.toFixed(zeros + 4)
  const digits = size.toExponential(3).replace(/e.*/, '').replace('.', '')
  const count = String(zeros)
    .split('')
    .map((digit) => SUBSCRIPT[Number(digit)])
    .join('')
  return `${number < 0 ? '-' : ''}0.0${count}${digits}`
}

/** An amount of money for a table: whole numbers once cents stop mattering. */
export function usd(value) {
  const number = toNumber(value)
  if (Number.isNaN(number)) return '–'
  if (number > 0 && number < 0.01) return '<$0.01'
  if (Math.abs(number) >= 1e6) return `$${short(number)}`
  return `$${grouped(number, Math.abs(number) >= 1000 ? 0 : 2)}`
}

export function usdShort(value) {
  const number = toNumber(value)
  if (Number.isNaN(number)) return '–'
  return `$${short(number)}`
}

export function short(number) {
  const size = Math.abs(number)
  for (const [unit, letter] of [
    [1e12, 'T'],
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'K'],
  ]) {
    if (size >= unit) return `${(number / unit).toFixed(size / unit >= 100 ? 0 : size / unit >= 10 ? 1 : 2)}${letter}`
  }
  if (size > 0 && size < 0.01) return price(number)
  return number.toFixed(size >= 100 || Number.isInteger(number) ? 0 : 2)
}

export function percent(value) {
  const number = toNumber(value)
  if (Number.isNaN(number)) return '–'
  return `${number > 0 ? '+' : number < 0 ? '−' : ''}${Math.abs(number).toFixed(2)}%`
}

export function directionOf(value) {
  const number = toNumber(value)
  return number > 0 ? 'up' : number < 0 ? 'down' : ''
}

export function duration(seconds) {
  if (seconds < MINUTE_S) return `${Math.max(0, Math.floor(seconds))}s`
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)}m`
  if (seconds < 2 * DAY_S) return `${Math.floor(seconds / HOUR_S)}h`
  return `${Math.floor(seconds / DAY_S)}d`
}

export function date(timeS) {
  return new Date(timeS * 1000).toISOString().slice(0, 10)
}

export function clock(timeS) {
  return new Date(timeS * 1000).toISOString().slice(11, 19)
}

export function shortAddress(address) {
  return address.length <= 12 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`
}

/** Unknown values are null or empty. */
export function toNumber(value) {
  return value === null || value === undefined || value === '' ? Number.NaN : Number(value)
}

function grouped(number, digits) {
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
