/**
 * A change of a position's liquidity: the principal that moves, and the fees paid out (v4-core: Pool.sol
 * `modifyLiquidity`).
 */

import { amount0Between, amount1Between, sqrtPriceAtTick } from './liquidity-math.js'
import {
  earned,
  growthInside,
  NO_GROWTH,
  positionAt,
  type Tick,
  type Ticks,
  tickAt,
  type V4State,
  withPosition,
  withTick,
} from './v4-state.js'

export type Modification = {
  /** The contract's key of the position. */
  positionKey: string
  tickLower: number
  tickUpper: number
  liquidityDelta: bigint
}

export type Modified = {
  state: V4State
  /** Into the pool; negative: out of it. */
  principal: readonly [bigint, bigint]
  /** Out of the pool; zero if the positions are unknown. */
  fees: readonly [bigint, bigint]
}

/** Null if more is removed than exists: then the state does not match the pool. */
export function modify(state: V4State, change: Modification): Modified | null {
  const principal = principalOf(state, change)
  const inRange = change.tickLower <= state.tick && state.tick < change.tickUpper
  const liquidity = state.liquidity + (inRange ? change.liquidityDelta : 0n)
  if (state.ticks === null) return { state: { ...state, liquidity }, principal, fees: [0n, 0n] }
  const lower = withLiquidity(state.ticks, change.tickLower, change.liquidityDelta, 1n, state)
  const ticks = withLiquidity(lower, change.tickUpper, change.liquidityDelta, -1n, state)
  const kept = withoutUnusedTick(withoutUnusedTick(ticks, change.tickLower, state), change.tickUpper, state)
  if (kept === null || liquidity < 0n) return null
  const after = { ...state, liquidity, ticks: kept }
  if (state.positions === null) return { state: after, principal, fees: [0n, 0n] }

  const inside = growthInside({ ...state, ticks }, change.tickLower, change.tickUpper)
  const before = positionAt(state.positions, change.positionKey) ?? { liquidity: 0n, growthInside: inside }
  const position = { liquidity: before.liquidity + change.liquidityDelta, growthInside: inside }
  if (position.liquidity < 0n) return null
  const positions = withPosition(state.positions, change.positionKey, position)
  return { state: { ...after, positions }, principal, fees: earned(before.liquidity, before.growthInside, inside) }
}

/** Added liquidity is rounded up, removed liquidity down: always in the pool's favour. */
export function principalOf(
  { tick, sqrtPrice }: Pick<V4State, 'tick' | 'sqrtPrice'>,
  { tickLower, tickUpper, liquidityDelta }: Modification,
): readonly [bigint, bigint] {
  const [lower, upper] = [sqrtPriceAtTick(tickLower), sqrtPriceAtTick(tickUpper)]
  const [size, rounding, sign] =
    liquidityDelta < 0n ? [-liquidityDelta, 'down' as const, -1n] : [liquidityDelta, 'up' as const, 1n]
  if (tick < tickLower) return [sign * amount0Between(lower, upper, size, rounding), 0n]
  if (tick >= tickUpper) return [0n, sign * amount1Between(lower, upper, size, rounding)]
  return [
    sign * amount0Between(sqrtPrice, upper, size, rounding),
    sign * amount1Between(lower, sqrtPrice, size, rounding),
  ]
}

function withLiquidity(ticks: Ticks, number: number, delta: bigint, netSign: 1n | -1n, pool: V4State): Ticks {
  if (delta === 0n) return ticks
  const before = tickAt(ticks, pool.tickSpacing, number) ?? newTick(number, pool)
  return withTick(ticks, pool.tickSpacing, number, {
    ...before,
    liquidityGross: before.liquidityGross + delta,
    liquidityNet: before.liquidityNet + netSign * delta,
  })
}

/** By the contract's convention, all growth before a tick was initialised happened below it. */
function newTick(number: number, { tick, growth }: V4State): Tick {
  return { liquidityGross: 0n, liquidityNet: 0n, growthOutside: number <= tick ? growth : NO_GROWTH }
}

/** Removes a tick that no position uses; null if its liquidity is negative. */
function withoutUnusedTick(ticks: Ticks | null, number: number, { tickSpacing }: V4State): Ticks | null {
  const tick = ticks === null ? undefined : tickAt(ticks, tickSpacing, number)
  if (ticks === null || tick === undefined || tick.liquidityGross > 0n) return ticks
  return tick.liquidityGross < 0n ? null : withTick(ticks, tickSpacing, number, undefined)
}
