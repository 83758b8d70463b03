/** Raw integers to doubles, and the current price of a pool. NaN is "unknown" throughout the reference. */
import type { ChainFamily } from '../../../services/core/domain/chains.js'

/** Parsed, not computed: `10 ** 23` is not the double nearest to 10^23 on every engine. */
export const powerOfTen = (decimals: number): number => Number(`1e${decimals}`)

export function toAmount(raw: string | null, decimals: number | null): number {
  return raw === null || decimals === null ? Number.NaN : Number(raw) / powerOfTen(decimals)
}

export type PoolSides = { targetIsToken0: boolean; decimals0: number | null; decimals1: number | null }

/** Quote per target from the chain's square root of token1 / token0 (raw). */
export function midOfSqrtPrice(sqrtPrice: string | null, family: ChainFamily, sides: PoolSides): number {
  const { targetIsToken0, decimals0, decimals1 } = sides
  if (sqrtPrice === null || decimals0 === null || decimals1 === null || Number(sqrtPrice) === 0) return Number.NaN
  const root = Number(sqrtPrice) / 2 ** (family === 'evm' ? 96 : 64)
  const token1PerToken0 = (root * root * powerOfTen(decimals0)) / powerOfTen(decimals1)
  return targetIsToken0 ? token1PerToken0 : 1 / token1PerToken0
}

export function midOfReserves(reserve0: string | null, reserve1: string | null, sides: PoolSides): number {
  const amount0 = toAmount(reserve0, sides.decimals0)
  const amount1 = toAmount(reserve1, sides.decimals1)
  if (!(amount0 > 0 && amount1 > 0)) return Number.NaN
  return sides.targetIsToken0 ? amount1 / amount0 : amount0 / amount1
}
