/** Exact raw integers to doubles, ranks of tokens, and the flags of a trade. */
import type { ChainFacts, ChainMoney } from './chains.js'

/** Largest `decimals` a token can have (a uint8). */
const MAX_DECIMALS = 255
const POWERS_OF_TEN: readonly number[] = Array.from({ length: MAX_DECIMALS + 1 }, (_, n) => Number(`1e${n}`))

/** NaN when the decimals are unknown. */
export function amountOf(raw: string, decimals: number): number {
  const power = POWERS_OF_TEN[decimals]
  return power === undefined ? Number.NaN : Number(raw) / power
}

export function powerOfTen(exponent: number): number {
  return exponent >= 0 ? (POWERS_OF_TEN[exponent] ?? Number.NaN) : 1 / (POWERS_OF_TEN[-exponent] ?? Number.NaN)
}

export const RANK = { anchor: 4, stable: 3, native: 2, major: 1, none: 0 } as const

export function rankOf(token: string, money: ChainMoney): number {
  if (token === money.anchor) return RANK.anchor
  if (money.stables.includes(token)) return RANK.stable
  if (token === money.native) return RANK.native
  return money.majors.includes(token) ? RANK.major : RANK.none
}

export const moneyOf = ({ anchor, native, stables, majors }: ChainMoney): ChainMoney => ({
  ...{ ...(anchor && { anchor }), ...(native && { native }), stables, majors },
})

export function isSameMoney(one: ChainMoney, other: ChainMoney): boolean {
  const text = ({ anchor, native, stables, majors }: ChainMoney) =>
    JSON.stringify([anchor, native, [...stables].sort(), [...majors].sort()])
  return text(one) === text(other)
}

export function withMoney(facts: ChainFacts, money: ChainMoney): ChainFacts {
  const { anchor: _anchor, native: _native, ...others } = facts
  return { ...others, ...money }
}

export const FLAG = { dust: 1, outlier: 2, unpriced: 4 } as const
export type FlagName = keyof typeof FLAG

export const flagNames = (flags: number): FlagName[] =>
  (Object.keys(FLAG) as FlagName[]).filter((name) => (flags & FLAG[name]) !== 0)

export const DUST_USD = 0.01
export const SMALL_USD = 1
/** Raw amounts under 1,000 have at most three digits. */
export const SMALL_RAW_DIGITS = 3
export const DEEP_TVL_USD = 10_000
export const REFERENCE_FRESH_S = 3600
export const MAIN_PAIR_LEAD = 1.1
export const MAIN_PAIR_HOPS = 3

/** True when two prices differ by more than `factor`; false when one is unknown. */
export function isOff(price: number, mid: number, factor: number): boolean {
  return mid > 0 && (price > mid * factor || price * factor < mid)
}
