/**
 * The followed state of a pool inside the manager: the contract's own variables, as an immutable value (v4-core:
 * Pool.sol, Position.sol).
 */
import type { VenueState } from '../../venue.js'

export type Tick = {
  /** Of all positions with a bound here. */
  liquidityGross: bigint
  /** Added when the price crosses upwards. */
  liquidityNet: bigint
  /** Fee growth on the other side of this tick, by token; only differences are meaningful. */
  growthOutside: Growth
}

/** Fees per unit of liquidity in Q128.128, by token, modulo 2^256. */
export type Growth = readonly [bigint, bigint]

export const NO_GROWTH: Growth = [0n, 0n]

export type Position = { liquidity: bigint; growthInside: Growth }

export type V4State = VenueState & {
  sqrtPrice: bigint
  tick: number
  tickSpacing: number
  liquidity: bigint
  /** Hundredths of a basis point of what is paid in, by the token that is paid in. */
  protocolFees: readonly [bigint, bigint]
  /** Null if the ticks could not be read: then neither fees nor reserves can be followed. */
  ticks: Ticks | null
  growth: Growth
  /**
   * Null if the pool's creation was not seen: then owed fees cannot be read, and `reserves` are the positions'
   * principal alone, without fees. Otherwise reserves are all the pool holds, fees included.
   */
  positions: Positions | null
}

/** Price and liquidity come with the next swap; without the ticks reserves stay unknown. */
export function unreadState(tickSpacing: number): V4State {
  return {
    reserves: null,
    sqrtPrice: 0n,
    tick: 0,
    tickSpacing,
    liquidity: 0n,
    protocolFees: [0n, 0n],
    ticks: null,
    growth: NO_GROWTH,
    positions: null,
  }
}

/**
 * In buckets, one per word of the contract's bitmap (256 possible ticks): a change copies one bucket, and a swap's
 * steps end at a word's end. Holds only ticks where a position ends.
 */
export type Ticks = ReadonlyMap<number, ReadonlyMap<number, Tick>>

export function wordOf(tick: number, tickSpacing: number): number {
  return Math.floor(Math.floor(tick / tickSpacing) / 256)
}

export function tickAt(ticks: Ticks, tickSpacing: number, tick: number): Tick | undefined {
  return ticks.get(wordOf(tick, tickSpacing))?.get(tick)
}

/** Removes the tick if `info` is undefined. */
export function withTick(ticks: Ticks, tickSpacing: number, tick: number, info: Tick | undefined): Ticks {
  const word = wordOf(tick, tickSpacing)
  const bucket = new Map(ticks.get(word))
  if (info === undefined) bucket.delete(tick)
  else bucket.set(tick, info)
  const copy = new Map(ticks)
  if (bucket.size === 0) copy.delete(word)
  else copy.set(word, bucket)
  return copy
}

/**
 * By the contract's key (a hash), in buckets by the key's first byte: a busy pool has a hundred thousand positions, and
 * a change copies one bucket.
 */
export type Positions = ReadonlyMap<string, ReadonlyMap<string, Position>>

const bucketOf = (key: string): string => key.slice(2, 4)

export function positionAt(positions: Positions, key: string): Position | undefined {
  return positions.get(bucketOf(key))?.get(key)
}

/** An empty position is dropped: the contract pays it nothing, whatever its growth was. */
export function withPosition(positions: Positions, key: string, position: Position): Positions {
  const bucket = new Map(positions.get(bucketOf(key)))
  if (position.liquidity === 0n) bucket.delete(key)
  else bucket.set(key, position)
  return new Map(positions).set(bucketOf(key), bucket)
}

// Fee growth is counted modulo 2^256, as in the contract: only differences are meaningful (v4-core: Pool.sol).

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
