/** What is followed of a pool inside the manager: the contract's own variables, as a value (v4-core: Pool.sol, Position.sol). */
import type { VenueState } from '../venue.js'

export type Tick = {
  /** Of all positions that end here. */
  liquidityGross: bigint
  /** Added when the price passes upwards. */
  liquidityNet: bigint
  /** Fee growth on the other side of this tick, by token; only differences mean something. */
  growthOutside: Growth
}

/** Fees per unit of liquidity in Q128.128, by token, modulo 2^256. */
export type Growth = readonly [bigint, bigint]

export type Position = { liquidity: bigint; growthInside: Growth }

export type V4State = VenueState & {
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
  /** Hundredths of a basis point of what is paid in, by the token that is paid in. */
  protocolFees: readonly [bigint, bigint]
  /** Null: the ticks could not be read, so that neither fees nor reserves can be followed. */
  ticks: Ticks | null
  growth: Growth
  /**
   * Null: met in mid-life. What its positions are owed cannot be read then, and `reserves` are the positions' principal alone: fees
   * stay out of them when they are earned, and nothing is taken out when they are paid. Else all the pool holds, fees included.
   */
  positions: Positions | null
}

export type Ticks = {
  byNumber: ReadonlyMap<number, Tick>
  /** The same, ascending. */
  order: readonly number[]
}

export const NO_TICKS: Ticks = { byNumber: new Map(), order: [] }

export function withTick({ byNumber, order }: Ticks, number: number, tick: Tick): Ticks {
  const copy = new Map(byNumber).set(number, tick)
  return { byNumber: copy, order: byNumber.has(number) ? order : order.toSpliced(firstAbove(order, number), 0, number) }
}

export function withoutTick({ byNumber, order }: Ticks, number: number): Ticks {
  const copy = new Map(byNumber)
  copy.delete(number)
  return { byNumber: copy, order: order.filter((other) => other !== number) }
}

/** The place of the first number above. */
export function firstAbove(order: readonly number[], number: number): number {
  let low = 0
  let high = order.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((order[middle] ?? 0) > number) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * By the contract's own key (a hash), in drawers by the key's first byte: a change copies one drawer, not the hundred thousand
 * positions a busy pool has.
 */
export type Positions = ReadonlyMap<string, ReadonlyMap<string, Position>>

const drawerOf = (key: string): string => key.slice(2, 4)

export function positionAt(positions: Positions, key: string): Position | undefined {
  return positions.get(drawerOf(key))?.get(key)
}

/** An empty position is forgotten: the contract pays it nothing, whatever its growth was. */
export function withPosition(positions: Positions, key: string, position: Position): Positions {
  const drawer = new Map(positions.get(drawerOf(key)))
  if (position.liquidity === 0n) drawer.delete(key)
  else drawer.set(key, position)
  return new Map(positions).set(drawerOf(key), drawer)
}
