/** Prices and ranges of concentrated liquidity. */
import type { TestToken } from './contracts.js'

export const MIN_SQRT_PRICE = 4295128739n
export const MAX_SQRT_PRICE = 1461446703485210103287273052203988822378723970342n
const MAX_TICK = 887272

/** Raw token1 for one raw token0. */
export function rawPrice(token0: TestToken, token1: TestToken): number {
  const unit = ({ decimals, priceUsd }: TestToken) => priceUsd / 10 ** (decimals ?? 18)
  return unit(token0) / unit(token1)
}

/** Q64.96 */
export function sqrtPriceOf(price: number): bigint {
  return BigInt(Math.floor(Math.sqrt(price) * 2 ** 48)) * 2n ** 48n
}

export const tickOf = (price: number): number => Math.floor(Math.log(price) / Math.log(1.0001))

export function fullRange(tickSpacing: number): [number, number] {
  const edge = Math.floor(MAX_TICK / tickSpacing) * tickSpacing
  return [-edge, edge]
}

export const onGrid = (tick: number, tickSpacing: number): number => Math.floor(tick / tickSpacing) * tickSpacing

/** The liquidity that takes about `usd` of each token over the whole range. */
export function fullRangeLiquidity(token0: TestToken, token1: TestToken, usd: number): bigint {
  const raw = ({ decimals, priceUsd }: TestToken) => (usd / priceUsd) * 10 ** (decimals ?? 18)
  return BigInt(Math.floor(Math.sqrt(raw(token0)) * Math.sqrt(raw(token1))))
}
