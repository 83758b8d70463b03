/** What of a pool with liquidity in ranges of prices (Uniswap V3 and the like) is in given positions. */

export type Position = { tickLower: number; tickUpper: number; liquidity: bigint }

/** At its present price. `sqrtPrice`: of token 1 in token 0, as a plain number. `reserves`: raw, fees included. */
export type RangePool = {
  tick: number
  sqrtPrice: number
  liquidity: bigint
  reserves: readonly [bigint | null, bigint | null]
}

/** The liquidity that trades at the present price use. */
export function activeLiquidity({ tickLower, tickUpper, liquidity }: Position, tick: number): bigint {
  return tickLower <= tick && tick < tickUpper ? liquidity : 0n
}

/** The part of the pool's tokens that the positions hold, of the token they hold less of; null: the reserves are unknown. */
export function coveredPart(
  { sqrtPrice, reserves: [raw0, raw1] }: RangePool,
  positions: readonly Position[],
): number | null {
  if (raw0 === null || raw1 === null) return null
  let [held0, held1] = [0, 0]
  for (const { tickLower, tickUpper, liquidity } of positions) {
    const [lower, upper] = [sqrtOf(tickLower), sqrtOf(tickUpper)]
    const price = Math.min(Math.max(sqrtPrice, lower), upper)
    held0 += Number(liquidity) * (1 / price - 1 / upper)
    held1 += Number(liquidity) * (price - lower)
  }
  return Math.min(1, partOf(held0, raw0), partOf(held1, raw1))
}

const sqrtOf = (tick: number): number => 1.0001 ** (tick / 2)

/** A side without tokens has nothing to withdraw. */
const partOf = (held: number, raw: bigint): number => (raw === 0n ? 1 : held / Number(raw))
