/** One log of the manager, applied to the pool it is about. */
import type { EvmLog } from '../log.js'
import { movedReserves, sizeOf } from '../moved-reserves.js'
import { type Applied, BadLog, type Happening } from '../protocol.js'
import { grown } from './growth.js'
import * as logs from './logs.js'
import { modify, principalOf } from './modify.js'
import { positionKeyOf } from './pool-key.js'
import type { V4State } from './pool-state.js'
import { walkSwap } from './swap-walk.js'

type Amounts = readonly [bigint, bigint]

export function applyInitialize(log: EvmLog, state: V4State): Applied<V4State> {
  const { sqrtPrice, tick } = logs.initializeOf(log)
  return { state: { ...state, sqrtPrice, tick }, happenings: [] }
}

export function applySwap(log: EvmLog, state: V4State): Applied<V4State> {
  const swap = logs.swapOf(log)
  const { sqrtPrice, tick, liquidity } = swap
  const after = { ...swapped(swap, state), sqrtPrice, tick, liquidity }
  // A hook may trade for the pool: the manager's own swap is then of nothing.
  if (swap.amounts[0] === 0n && swap.amounts[1] === 0n) return { state: after, happenings: [] }
  const tokenIn = swap.amounts[0] < 0n || swap.amounts[1] > 0n ? 0 : 1
  const tokenOut = 1 - tokenIn
  const [amount0, amount1] = [sizeOf(swap.amounts[0]), sizeOf(swap.amounts[1])]
  const happening: Happening = {
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
  return { state: after, happenings: [happening] }
}

/** Ticks, growth and reserves after it. */
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
  if (walked === null) return lost(state)
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
  const modified = modify(state, change) ?? { state: lost(state), principal: principalOf(state, change), fees: NOTHING }
  const { principal, fees } = modified
  const reserves = movedReserves(modified.state.reserves, [principal[0] - fees[0], principal[1] - fees[1]])
  const after = { ...modified.state, reserves }
  const happening: Happening =
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
  return { state: after, happenings: [happening] }
}

/** A donation is a fee for whoever provides liquidity at the price of the moment. */
export function applyDonate(log: EvmLog, state: V4State): Applied<V4State> {
  const { sender, amounts } = logs.donateOf(log)
  if (state.positions === null) return { state, happenings: [] }
  const growth = grown(grown(state.growth, 0, amounts[0], state.liquidity), 1, amounts[1], state.liquidity)
  const reserves = movedReserves(state.reserves, amounts)
  return { state: { ...state, growth, reserves }, happenings: [{ kind: 'reserves', log, reserves, sender }] }
}

export function applyProtocolFee(log: EvmLog, state: V4State): Applied<V4State> {
  return { state: { ...state, protocolFees: logs.protocolFeesOf(log) }, happenings: [] }
}

const NOTHING: Amounts = [0n, 0n]

/** What was followed is not the pool: better no reserves than wrong ones. Prices and amounts are the logs' own and go on. */
function lost(state: V4State): V4State {
  return { ...state, reserves: null, ticks: null, positions: null }
}
