/** Fee growth, as the contract counts it: modulo 2^256, so that only differences mean something (v4-core: Pool.sol). */
import { type Growth, NO_GROWTH, type Tick, type Ticks, tickAt } from './v4-state.js'

const Q128 = 1n << 128n

export function grown(growth: Growth, token: 0 | 1, fee: bigint, liquidity: bigint): Growth {
  if (fee === 0n || liquidity === 0n) return growth
  const after = BigInt.asUintN(256, growth[token] + (fee * Q128) / liquidity)
  return token === 0 ? [after, growth[1]] : [growth[0], after]
}

export function minus(a: Growth, b: Growth): Growth {
  return [BigInt.asUintN(256, a[0] - b[0]), BigInt.asUintN(256, a[1] - b[1])]
}

export function crossed(tick: Tick, global: Growth): Tick {
  return { ...tick, growthOutside: minus(global, tick.growthOutside) }
}

type Pool = { ticks: Ticks; tickSpacing: number; tick: number; growth: Growth }

export function growthInside(pool: Pool, lowerTick: number, upperTick: number): Growth {
  const { ticks, tickSpacing, tick, growth: global } = pool
  const lower = tickAt(ticks, tickSpacing, lowerTick)?.growthOutside ?? NO_GROWTH
  const upper = tickAt(ticks, tickSpacing, upperTick)?.growthOutside ?? NO_GROWTH
  if (tick < lowerTick) return minus(lower, upper)
  if (tick >= upperTick) return minus(upper, lower)
  return minus(minus(global, lower), upper)
}

/** What a position has earned since its growth was last noted. */
export function earned(liquidity: bigint, since: Growth, now: Growth): readonly [bigint, bigint] {
  const growth = minus(now, since)
  return [(growth[0] * liquidity) / Q128, (growth[1] * liquidity) / Q128]
}
