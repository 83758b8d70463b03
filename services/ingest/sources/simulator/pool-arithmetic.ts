/** Arithmetic of launch curves (a constant product of virtual reserves, partly for sale) and of Uniswap V2's pairs. */
import type { ChainFamily } from '../../../core/domain/chains.js'

export type CurveTerms = {
  platform: string
  decimals: number
  supply: bigint
  forSale: bigint
  virtualBase: bigint
  virtualQuote: bigint
  feeBps: bigint
  /** The AMM it graduates to. */
  graduatesTo: string
}

const millions = (tokens: bigint, decimals: bigint): bigint => tokens * 10n ** decimals

/** Pump.fun's global account: 30 SOL and 1,073,000,000 tokens virtual, 793,100,000 for sale, 1 % fee. */
export const PUMP: CurveTerms = {
  platform: 'pump',
  decimals: 6,
  supply: millions(1_000_000_000n, 6n),
  forSale: millions(793_100_000n, 6n),
  virtualBase: millions(1_073_000_000n, 6n),
  virtualQuote: 30n * 10n ** 9n,
  feeBps: 100n,
  graduatesTo: 'pumpamm',
}

/** Raises 24 BNB for 800,000,000 tokens; its last price is the price of the pool it opens with the rest. */
export const FOURMEME: CurveTerms = {
  platform: 'fourmeme',
  decimals: 18,
  supply: millions(1_000_000_000n, 18n),
  forSale: millions(800_000_000n, 18n),
  virtualBase: millions(1_066_666_667n, 18n),
  virtualQuote: 8n * 10n ** 18n,
  feeBps: 100n,
  graduatesTo: 'cakev2',
}

export type CurveReserves = { virtualBase: bigint; virtualQuote: bigint }

export function tokensFor(quoteIn: bigint, { virtualBase, virtualQuote }: CurveReserves): bigint {
  return (virtualBase * quoteIn) / (virtualQuote + quoteIn)
}

export function quoteFor(tokensIn: bigint, { virtualBase, virtualQuote }: CurveReserves): bigint {
  return (virtualQuote * tokensIn) / (virtualBase + tokensIn)
}

/** The minimum that buys this many tokens. */
export function costOf(tokens: bigint, { virtualBase, virtualQuote }: CurveReserves): bigint {
  return (virtualQuote * tokens) / (virtualBase - tokens) + 1n
}

/** √(token1 / token0) in the family's fixed-point format. */
export function curveSqrtPrice(family: ChainFamily, reserves: CurveReserves, baseIs0: boolean): string {
  const { virtualBase, virtualQuote } = reserves
  const [reserve0, reserve1] = baseIs0 ? [virtualBase, virtualQuote] : [virtualQuote, virtualBase]
  return squareRoot((reserve1 << (family === 'evm' ? 192n : 128n)) / reserve0).toString()
}

/** As in Uniswap V2's pair and router, with their order of operations. */
const WHOLE = 10_000n

/** What the pool pays for an amount, after its fee. */
export function amountOut(amountIn: bigint, reserveIn: bigint, reserveOut: bigint, feeBps: bigint): bigint {
  const afterFee = amountIn * (WHOLE - feeBps)
  return (afterFee * reserveOut) / (reserveIn * WHOLE + afterFee)
}

/** floor(√value), exact. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value
  let root = BigInt(Math.floor(Math.sqrt(Number(value))))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next === root || next === root + 1n) break
    root = next
  }
  while (root * root > value) root -= 1n
  while ((root + 1n) * (root + 1n) <= value) root += 1n
  return root
}
