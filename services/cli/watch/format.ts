/** Numbers for people. */

/** Five significant digits, never with an exponent: `15.172`, `0.0000012346`. */
export function formatPrice(price: number): string {
  if (!Number.isFinite(price)) return '–'
  const magnitude = price === 0 ? 0 : Math.floor(Math.log10(Math.abs(price)))
  const digits = Math.min(20, Math.max(2, 4 - magnitude))
  return price.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

/** `$21.7M`. */
export function formatUsd(amount: number): string {
  return Number.isFinite(amount) ? `$${COMPACT.format(amount)}` : '–'
}

/** `+4.02 %`. */
export function formatChange(percent: number): string {
  return Number.isFinite(percent) ? `${percent >= 0 ? '+' : ''}${percent.toFixed(2)} %` : '–'
}

/** `22:49:16`, UTC. */
export const formatClock = (timeS: number): string => new Date(timeS * 1000).toISOString().slice(11, 19)
