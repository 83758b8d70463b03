/** The logs of the PoolManager about its pools (v4-core 1.0.2: IPoolManager.sol, IProtocolFees.sol). */

import { topicOf } from '../../abi/keccak.js'
import {
  addressAt,
  bytes32At,
  expectShape,
  indexedAddress,
  indexedBytes32,
  intAt,
  uintAt,
} from '../../abi/log-fields.js'
import type { EvmLog } from '../../log.js'
import { BadLog } from '../../protocol.js'
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK } from './liquidity-math.js'

export const INITIALIZE = topicOf('Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)')
export const SWAP = topicOf('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)')
export const MODIFY_LIQUIDITY = topicOf('ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)')
export const DONATE = topicOf('Donate(bytes32,address,uint256,uint256)')
export const PROTOCOL_FEE_UPDATED = topicOf('ProtocolFeeUpdated(bytes32,uint24)')

const MAX_FEE_PIPS = 1_000_000n
const MAX_SPACING = 32_767

export type InitializeLog = {
  id: string
  currencies: readonly [string, string]
  fee: number
  tickSpacing: number
  hooks: string
  sqrtPrice: bigint
  tick: number
}

export function initializeOf(log: EvmLog): InitializeLog {
  expectShape(log, 4, 5)
  const tickSpacing = Number(intAt(log, 1, 24))
  if (tickSpacing < 1 || tickSpacing > MAX_SPACING) throw new BadLog(log, `tick spacing ${tickSpacing} is out of range`)
  return {
    id: indexedBytes32(log, 1),
    currencies: [indexedAddress(log, 2), indexedAddress(log, 3)],
    fee: Number(uintAt(log, 0, 24)),
    tickSpacing,
    hooks: addressAt(log, 2),
    sqrtPrice: sqrtPriceAt(log, 3),
    tick: tickAt(log, 4),
  }
}

export type SwapLog = {
  sender: string
  /** The swapper's: negative is paid in. */
  amounts: readonly [bigint, bigint]
  sqrtPrice: bigint
  liquidity: bigint
  tick: number
  feePips: bigint
}

export function swapOf(log: EvmLog): SwapLog {
  expectShape(log, 3, 6)
  const feePips = uintAt(log, 5, 24)
  if (feePips > MAX_FEE_PIPS) throw new BadLog(log, `fee of ${feePips} millionths is above 100 %`)
  const amounts = [intAt(log, 0, 128), intAt(log, 1, 128)] as const
  if ((amounts[0] > 0n && amounts[1] > 0n) || (amounts[0] < 0n && amounts[1] < 0n)) {
    throw new BadLog(log, 'both tokens move in the same direction')
  }
  return {
    sender: indexedAddress(log, 2),
    amounts,
    sqrtPrice: sqrtPriceAt(log, 2),
    liquidity: uintAt(log, 3, 128),
    // A swap that ends on the lowest tick's price leaves the number below it.
    tick: tickAt(log, 4, MIN_TICK - 1),
    feePips,
  }
}

export type ModifyLog = { sender: string; tickLower: number; tickUpper: number; liquidityDelta: bigint; salt: string }

export function modifyOf(log: EvmLog): ModifyLog {
  expectShape(log, 3, 4)
  const [tickLower, tickUpper] = [tickAt(log, 0), tickAt(log, 1)]
  if (tickLower >= tickUpper) throw new BadLog(log, `empty range from tick ${tickLower} to ${tickUpper}`)
  return {
    sender: indexedAddress(log, 2),
    tickLower,
    tickUpper,
    liquidityDelta: intAt(log, 2, 128),
    salt: bytes32At(log, 3),
  }
}

export function donateOf(log: EvmLog): { sender: string; amounts: readonly [bigint, bigint] } {
  expectShape(log, 3, 2)
  return { sender: indexedAddress(log, 2), amounts: [uintAt(log, 0, 128), uintAt(log, 1, 128)] }
}

/** By the token that is paid in: twelve bits each. */
export function protocolFeesOf(log: EvmLog): readonly [bigint, bigint] {
  expectShape(log, 2, 1)
  return unpackedProtocolFees(uintAt(log, 0, 24))
}

export function unpackedProtocolFees(packed: bigint): readonly [bigint, bigint] {
  return [packed & 0xfffn, packed >> 12n]
}

function tickAt(log: EvmLog, word: number, lowest = MIN_TICK): number {
  const tick = Number(intAt(log, word, 24))
  if (tick < lowest || tick > MAX_TICK) throw new BadLog(log, `tick ${tick} is out of range`)
  return tick
}

function sqrtPriceAt(log: EvmLog, word: number): bigint {
  const price = uintAt(log, word, 160)
  if (price < MIN_SQRT_PRICE || price >= MAX_SQRT_PRICE) throw new BadLog(log, `sqrt price ${price} is out of range`)
  return price
}
