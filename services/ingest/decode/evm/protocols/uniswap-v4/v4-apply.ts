/** Applies one log of the PoolManager to its pool. */
import type { EvmLog } from '../../log.js'
import { type Applied, BadLog, type VenueEvent } from '../../protocol.js'
import { movedReserves, sizeOf } from '../../venue.js'
import { modify, principalOf } from './modify-liquidity.js'
import { positionKeyOf } from './pool-key.js'
import { walkSwap } from './swap-walk.js'
import * as logs from './v4-logs.js'
import { grown, type V4State } from './v4-state.js'

type Amounts = readonly [bigint, bigint]

export function applyInitialize(log: EvmLog, state: V4State): Applied<V4State> {
  const { sqrtPrice, tick } = logs.initializeOf(log)
  return { state: { ...state, sqrtPrice, tick }, events: [] }
}

export function applySwap(log: EvmLog, state: V4State): Applied<V4State> {
  const swap = logs.swapOf(log)
  const { sqrtPrice, tick, liquidity } = swap
  const after = { ...swapped(swap, state), sqrtPrice, tick, liquidity }
  // A hook may trade in place of the pool: then the manager's swap has zero amounts.
  if (swap.amounts[0] === 0n && swap.amounts[1] === 0n) return { state: after, events: [] }
  const tokenIn = swap.amounts[0] < 0n || swap.amounts[1] > 0n ? 0 : 1
  const tokenOut = 1 - tokenIn
  const [amount0, amount1] = [sizeOf(swap.amounts[0]), sizeOf(swap.amounts[1])]
  const event: VenueEvent = {
    kind: 'swap',
    log,
    reserves: after.reserves,
    sender: swap.sender,
    recipient: swap.sender,
    tokenIn,
    tokenOut,
    amountIn: tokenIn === 0 ? amount0 : amount1,
    amountOut: tokenIn === 0 ? amount1 : amount0,
    sqrtPrice,
  }
  return { state: after, events: [event] }
}

/** State with ticks, growth and reserves after the swap. */
function swapped(swap: logs.SwapLog, state: V4State): V4State {
  if (state.ticks === null) return state
  const [amount0, amount1] = swap.amounts
  const falls = swap.sqrtPrice < state.sqrtPrice || (swap.sqrtPrice === state.sqrtPrice && swap.tick < state.tick)
  const zeroForOne = amount0 < 0n || (amount1 === 0n && falls)
  const paid = zeroForOne ? 0 : 1
  const walked = walkSwap(
    { ...state, ticks: state.ticks },
    {
      zeroForOne,
      amountIn: -swap.amounts[paid],
      feePips: swap.feePips,
      protocolFeePips: state.protocolFees[paid],
      sqrtPriceAfter: swap.sqrtPrice,
      tickAfter: swap.tick,
      liquidityAfter: swap.liquidity,
    },
  )
  if (walked === null) return withUnknownReserves(state)
  const { ticks, growth, protocolFee, providersFee } = walked
  const kept = state.positions === null ? protocolFee + providersFee : protocolFee
  const moved: Amounts = zeroForOne ? [-amount0 - kept, -amount1] : [-amount0, -amount1 - kept]
  return { ...state, ticks, growth, reserves: movedReserves(state.reserves, moved) }
}

export function applyModify(log: EvmLog, state: V4State): Applied<V4State> {
  const { sender, tickLower, tickUpper, liquidityDelta, salt } = logs.modifyOf(log)
  // Amounts follow from the price; nobody has told it of a pool that no node described.
  if (state.sqrtPrice === 0n) throw new BadLog(log, "the pool's price before it is not known")
  const change = {
    positionKey: positionKeyOf(sender, tickLower, tickUpper, salt),
    tickLower,
    tickUpper,
    liquidityDelta,
  }
  const modified = modify(state, change) ?? {
    state: withUnknownReserves(state),
    principal: principalOf(state, change),
    fees: NOTHING,
  }
  const { principal, fees } = modified
  const reserves = movedReserves(modified.state.reserves, [principal[0] - fees[0], principal[1] - fees[1]])
  const after = { ...modified.state, reserves }
  const event: VenueEvent =
    liquidityDelta === 0n
      ? { kind: 'reserves', log, reserves, sender }
      : {
          kind: 'liquidity',
          change: liquidityDelta > 0n ? 'add' : 'remove',
          log,
          reserves,
          sender,
          amounts: principal.map(sizeOf),
        }
  return { state: after, events: [event] }
}

/** A donation is a fee for the liquidity in range. */
export function applyDonate(log: EvmLog, state: V4State): Applied<V4State> {
  const { sender, amounts } = logs.donateOf(log)
  if (state.positions === null) return { state, events: [] }
  const growth = grown(grown(state.growth, 0, amounts[0], state.liquidity), 1, amounts[1], state.liquidity)
  const reserves = movedReserves(state.reserves, amounts)
  return { state: { ...state, growth, reserves }, events: [{ kind: 'reserves', log, reserves, sender }] }
}

export function applyProtocolFee(log: EvmLog, state: V4State): Applied<V4State> {
  return { state: { ...state, protocolFees: logs.protocolFeesOf(log) }, events: [] }
}

const NOTHING: Amounts = [0n, 0n]

/** The followed state does not match the pool: unknown reserves are better than wrong ones. Prices and amounts come from the logs and continue. */
function withUnknownReserves(state: V4State): V4State {
  return { ...state, reserves: null, ticks: null, positions: null }
}
