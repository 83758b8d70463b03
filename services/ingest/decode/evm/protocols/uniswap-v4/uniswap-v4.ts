/**
 * Uniswap V4: all pools live in one PoolManager, and the pair id is the pool id. Reserves are what the manager holds
 * for the pool: principal, unpaid fees and donations, without the protocol's share (see `v4-state.ts` for pools whose
 * creation was not seen). What a hook takes or trades for itself is not the pool's and is not published. Logs name only
 * a sender, which is also used as recipient.
 */
import { selectorOf } from '../../abi/keccak.js'
import { indexedBytes32 } from '../../abi/log-fields.js'
import { answeredAddress, answeredInt, answeredUint, callOf } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import {
  type Applied,
  BadLog,
  type ChainContracts,
  type Protocol,
  type Reading,
  type Refusal,
  type VenueEvent,
} from '../../protocol.js'
import { isFromOtherContract, movedReserves, sizeOf, type Venue } from '../../venue.js'
import { modify, principalOf } from './modify-liquidity.js'
import { idOf, type PoolKey, positionKeyOf, venueOfKey } from './pool-key.js'
import { readV4State } from './read-v4-state.js'
import { walkSwap } from './swap-walk.js'
import * as logs from './v4-logs.js'
import { grown, unreadState, type V4State } from './v4-state.js'

export const uniswapV4: Protocol<V4State> = {
  name: 'uniswap-v4',
  isSingleton: true,
  ids: /^0x[0-9a-f]{64}$/,
  creationTopics: [logs.INITIALIZE],
  topics: [logs.INITIALIZE, logs.SWAP, logs.MODIFY_LIQUIDITY, logs.DONATE, logs.PROTOCOL_FEE_UPDATED],
  venueOf: (log) => indexedBytes32(log, 1),
  created(log, contract, chain) {
    const { id, ...key } = logs.initializeOf(log)
    return venueOfKey(id, key, contract, chain)
  },
  describe: describeV4,
  emptyState({ facts }) {
    const tickSpacing = Number(facts?.tickSpacing ?? 0)
    if (tickSpacing === 0) return unreadState(0)
    return { ...unreadState(tickSpacing), reserves: [0n, 0n], ticks: new Map(), positions: new Map() }
  },
  readState: readV4State,
  apply(log, venue, state) {
    if (isFromOtherContract(log, venue.facts?.manager)) return { state, events: [] }
    if (log.topics[0] === logs.SWAP) return applySwap(log, state)
    if (log.topics[0] === logs.MODIFY_LIQUIDITY) return applyModify(log, state)
    if (log.topics[0] === logs.DONATE) return applyDonate(log, state)
    if (log.topics[0] === logs.PROTOCOL_FEE_UPDATED) return applyProtocolFee(log, state)
    return applyInitialize(log, state)
  },
}

// v4-periphery: PositionManager.sol, `mapping(bytes25 poolId => PoolKey) public poolKeys`.
const POOL_KEYS = selectorOf('poolKeys(bytes25)')

export function* describeV4(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const manager = chain.contracts.get(log.address)
  if (manager?.protocol !== 'uniswap-v4') return { refused: `${log.address} is not a known pool manager` }
  if (id.length !== 66) return { refused: 'it is not a pool id' }
  const positions = manager.others?.positions
  if (positions === undefined) return { refused: 'no known position manager can look up this pool id', isOurs: true }
  const [answer] = yield [callOf(positions, POOL_KEYS, id.slice(2, 52).padEnd(64, '0'))]
  const key = keyOf(answer ?? null)
  if (key === null || idOf(key) !== id) {
    const why = 'the pool was created before this history starts and the position manager has no key for it'
    return { refused: `${why}; backfill from before its creation`, isOurs: true }
  }
  return venueOfKey(id, key, manager, chain) ?? { refused: 'both of its tokens are the native coin' }
}

function keyOf(answer: string | null): PoolKey | null {
  const [currency0, currency1] = [answeredAddress(answer, 0), answeredAddress(answer, 1)]
  const [fee, tickSpacing, hooks] = [
    answeredUint(answer, 2, 24),
    answeredInt(answer, 3, 24),
    answeredAddress(answer, 4),
  ]
  if (currency0 === null || currency1 === null || fee === null || tickSpacing === null || hooks === null) return null
  return { currencies: [currency0, currency1], fee: Number(fee), tickSpacing: Number(tickSpacing), hooks }
}

type Amounts = readonly [bigint, bigint]

function applyInitialize(log: EvmLog, state: V4State): Applied<V4State> {
  const { sqrtPrice, tick } = logs.initializeOf(log)
  return { state: { ...state, sqrtPrice, tick }, events: [] }
}

function applySwap(log: EvmLog, state: V4State): Applied<V4State> {
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

function applyModify(log: EvmLog, state: V4State): Applied<V4State> {
  const { sender, tickLower, tickUpper, liquidityDelta, salt } = logs.modifyOf(log)
  // Amounts follow from the price, which is unknown for a pool that no node described.
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
function applyDonate(log: EvmLog, state: V4State): Applied<V4State> {
  const { sender, amounts } = logs.donateOf(log)
  if (state.positions === null) return { state, events: [] }
  const growth = grown(grown(state.growth, 0, amounts[0], state.liquidity), 1, amounts[1], state.liquidity)
  const reserves = movedReserves(state.reserves, amounts)
  return { state: { ...state, growth, reserves }, events: [{ kind: 'reserves', log, reserves, sender }] }
}

function applyProtocolFee(log: EvmLog, state: V4State): Applied<V4State> {
  return { state: { ...state, protocolFees: logs.protocolFeesOf(log) }, events: [] }
}

const NOTHING: Amounts = [0n, 0n]

/** The followed state does not match the pool: unknown reserves are better than wrong ones. Prices and amounts come from the logs and continue. */
function withUnknownReserves(state: V4State): V4State {
  return { ...state, reserves: null, ticks: null, positions: null }
}
