import { amountOf } from '../../core/domain/money.js'

/** A raw integer with its decimals applied, exact: `rawToDecimal('24975', 5)` is `0.24975`. */
export function rawToDecimal(raw: string, decimals: number): string {
  const negative = raw.startsWith('-')
  const digits = (negative ? raw.slice(1) : raw).replace(/^0+(?=\d)/, '')
  const sign = negative && digits !== '0' ? '-' : ''
  if (decimals <= 0) return sign + (digits === '0' ? digits : digits + '0'.repeat(-decimals))
  const padded = digits.padStart(decimals + 1, '0')
  const fraction = padded.slice(-decimals).replace(/0+$/, '')
  const whole = padded.slice(0, -decimals)
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`)
}

/** Null where the raw amount or the decimals are unknown: decimals are never guessed. */
export function rawOrNull(raw: string | null, decimals: number | null): string | null {
  return raw === null || decimals === null ? null : rawToDecimal(raw, decimals)
}

export function rawOrEmpty(raw: string | null, decimals: number | null): string {
  return rawOrNull(raw, decimals) ?? ''
}

/** As a double; NaN where unknown. */
export function rawToNumber(raw: string | null, decimals: number | null): number {
  return raw === null || decimals === null ? Number.NaN : amountOf(raw, decimals)
}
