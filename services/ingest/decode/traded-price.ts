/** The price of a trade, for pools that publish no price and whose reserve ratio is not their price. */

/** Fixed-point formats of the chains' own protocols (Q64.96, Q64.64); both have 64 integer bits. */
const FRACTION = { evm: 2 ** 96, solana: 2 ** 64 } as const
const ABOVE = 2 ** 64

/**
 * The square root of the pair's token 1 per token 0, both raw, as `sqrt_price` has it. To a double's precision: division and root are
 * rounded the same on every machine. Null: one of the amounts is 0, or the price is out of bounds.
 */
export function tradedSqrtPrice(family: keyof typeof FRACTION, amount0: bigint, amount1: bigint): bigint | null {
  const root = Math.sqrt(Number(amount1) / Number(amount0))
  const fixed = root * FRACTION[family]
  return root < ABOVE && fixed >= 1 ? BigInt(Math.floor(fixed)) : null
}
