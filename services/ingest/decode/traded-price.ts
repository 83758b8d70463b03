/** The price a trade was made at, for pools that state none and whose reserves are in no ratio to it. */

/** Bits behind the point, as the chains' own protocols have them; whole ones are 64 on both. */
const FRACTION = { evm: 2 ** 96, solana: 2 ** 64 } as const
const ABOVE = 2 ** 64

/**
 * The square root of the pair's token 1 per token 0, both raw, as `sqrt_price` has it. To a double's precision: division and root are
 * rounded alike on every machine. Null: one of the amounts is nothing, or the price is out of all bounds.
 */
export function tradedSqrtPrice(family: keyof typeof FRACTION, amount0: bigint, amount1: bigint): bigint | null {
  const root = Math.sqrt(Number(amount1) / Number(amount0))
  const fixed = root * FRACTION[family]
  return root < ABOVE && fixed >= 1 ? BigInt(Math.floor(fixed)) : null
}
