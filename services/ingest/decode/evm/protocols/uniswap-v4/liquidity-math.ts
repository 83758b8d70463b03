/**
 * Concentrated liquidity in integers, rounded as the contract rounds (v4-core: TickMath.sol, SqrtPriceMath.sol). Prices are square
 * roots in Q64.96.
 */

export const MIN_TICK = -887_272
export const MAX_TICK = 887_272
export const MIN_SQRT_PRICE = 4_295_128_739n
export const MAX_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n

const Q96 = 1n << 96n
const Q128 = 1n << 128n
const MAX_UINT256 = (1n << 256n) - 1n

/** 1 / sqrt(1.0001 ^ (2 ^ place)) in Q128.128, nearest integer, as the contract has them. */
const ROOTS = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
] as const

export function sqrtPriceAtTick(tick: number): bigint {
  const distance = Math.abs(tick)
  let ratio = Q128
  for (const [place, root] of ROOTS.entries()) {
    if ((distance & (1 << place)) !== 0) ratio = (ratio * root) >> 128n
  }
  if (tick > 0) ratio = MAX_UINT256 / ratio
  return (ratio + 0xffffffffn) >> 32n
}

export type Rounding = 'up' | 'down'

/** What of token 0 a liquidity holds between two prices. */
export function amount0Between(priceA: bigint, priceB: bigint, liquidity: bigint, rounding: Rounding): bigint {
  const [low, high] = priceA < priceB ? [priceA, priceB] : [priceB, priceA]
  const product = liquidity * Q96 * (high - low)
  return rounding === 'up' ? ceilDiv(ceilDiv(product, high), low) : product / high / low
}

/** What of token 1 a liquidity holds between two prices. */
export function amount1Between(priceA: bigint, priceB: bigint, liquidity: bigint, rounding: Rounding): bigint {
  const product = liquidity * (priceA < priceB ? priceB - priceA : priceA - priceB)
  return rounding === 'up' ? ceilDiv(product, Q96) : product / Q96
}

export function ceilDiv(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
