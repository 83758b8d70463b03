/** A finite double as a plain decimal that reads back as the same double: never an exponent. */
export function plainDecimal(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`plainDecimal takes finite numbers, got ${value}`)
  const text = String(value)
  const exponentAt = text.indexOf('e')
  if (exponentAt < 0) return text
  const exponent = Number(text.slice(exponentAt + 1))
  const negative = text.startsWith('-')
  const mantissa = text.slice(negative ? 1 : 0, exponentAt)
  const [whole = '', fraction = ''] = mantissa.split('.')
  return (negative ? '-' : '') + shifted(whole, fraction, exponent)
}

/** Unknown (NaN) or infinite: null. */
export function decimalOrNull(value: number): string | null {
  return Number.isFinite(value) ? plainDecimal(value) : null
}

/** Unknown (NaN) or infinite: the empty string the interface wants where a string is required. */
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
