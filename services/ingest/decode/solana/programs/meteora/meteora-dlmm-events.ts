/** Events Meteora's DLMM emits by calls to itself (its IDL, `lb_clmm` 0.12.0, in npm's `@meteora-ag/dlmm`). */
import { eventDiscriminator, readEventOf, refuseWithoutEvent } from '../../instruction/read-instruction.js'
import type { Pair } from '../../instruction/vault-pool.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export type DlmmSwap = {
  pool: string
  from: string
  startBin: number
  endBin: number
  /** X is sold for Y. */
  isForY: boolean
  amountIn: bigint
  amountOut: bigint
  /** In the token sold, including the protocol's and the host's share. */
  fee: bigint
  protocolFee: bigint
  hostFee: bigint
  /** In billionths, despite its name in the IDL. */
  feeRate: bigint
}

export type DlmmLiquidity = { pool: string; from: string; amounts: Pair<bigint> }

export type DlmmRebalance = { pool: string; withdrawn: Pair<bigint>; added: Pair<bigint>; fees: Pair<bigint> }

export type DlmmPair = { pool: string; binStep: number; tokens: Pair<string> }

const SWAP = eventDiscriminator('Swap')
const SWAP_2 = eventDiscriminator('Swap2Evt')
const ADD = eventDiscriminator('AddLiquidity')
const REMOVE = eventDiscriminator('RemoveLiquidity')
const CANCEL = eventDiscriminator('CancelLimitOrderEvt')
const PLACE = eventDiscriminator('PlaceLimitOrderEvt')
const REBALANCE = eventDiscriminator('Rebalancing')
const CREATE = eventDiscriminator('LbPairCreate')

/** Since limit orders exist, a swap emits two events, the second with more fields. The first has existed from the beginning. */
export function dlmmSwap(instruction: Instruction): DlmmSwap {
  return (
    readEventOf(instruction, SWAP, readSwap) ??
    readEventOf(instruction, SWAP_2, readSwap2) ??
    refuseWithoutEvent(instruction, 'a swap')
  )
}

export function dlmmAdded(instruction: Instruction): DlmmLiquidity {
  return readEventOf(instruction, ADD, readLiquidity) ?? refuseWithoutEvent(instruction, 'added liquidity')
}

export function dlmmRemoved(instruction: Instruction): DlmmLiquidity | null {
  return readEventOf(instruction, REMOVE, readLiquidity)
}

/** An order is held in the pool's reserves until it is filled. */
export function dlmmOrderCancelled(instruction: Instruction): DlmmLiquidity {
  return readEventOf(instruction, CANCEL, readLiquidity) ?? refuseWithoutEvent(instruction, 'a cancelled order')
}

export function dlmmOrderPlaced(instruction: Instruction): DlmmLiquidity {
  return readEventOf(instruction, PLACE, readOrder) ?? refuseWithoutEvent(instruction, 'a placed order')
}

export function dlmmRebalanced(instruction: Instruction): DlmmRebalance {
  return readEventOf(instruction, REBALANCE, readRebalance) ?? refuseWithoutEvent(instruction, 'a rebalanced position')
}

export function dlmmCreated(instruction: Instruction): DlmmPair {
  return readEventOf(instruction, CREATE, readPair) ?? refuseWithoutEvent(instruction, 'a created pair')
}

function readSwap(reader: ByteReader): DlmmSwap {
  const [pool, from] = [reader.pubkey(), reader.pubkey()]
  const [startBin, endBin] = [reader.i32(), reader.i32()]
  const [amountIn, amountOut, isForY] = [reader.u64(), reader.u64(), reader.bool()]
  const [fee, protocolFee, feeRate, hostFee] = [reader.u64(), reader.u64(), reader.u128(), reader.u64()]
  return { pool, from, startBin, endBin, isForY, amountIn, amountOut, fee, protocolFee, hostFee, feeRate }
}

/** The unfilled rest of an order comes between the amounts; it was never transferred. */
function readSwap2(reader: ByteReader): DlmmSwap {
  const [pool, from] = [reader.pubkey(), reader.pubkey()]
  const [startBin, endBin] = [reader.i32(), reader.i32()]
  const [isForY, feeRate] = [reader.bool(), reader.u128()]
  const [amountIn, , amountOut] = [reader.u64(), reader.u64(), reader.u64()]
  const [makersFee, protocolFee, ordersFee, hostFee] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  const fee = makersFee + protocolFee + ordersFee + hostFee
  return { pool, from, startBin, endBin, isForY, amountIn, amountOut, fee, protocolFee, hostFee, feeRate }
}

function readLiquidity(reader: ByteReader): DlmmLiquidity {
  const [pool, from] = [reader.pubkey(), reader.pubkey()]
  reader.pubkey()
  return { pool, from, amounts: [reader.u64(), reader.u64()] }
}

/** An order is on one side of the price and spans several bins. */
function readOrder(reader: ByteReader): DlmmLiquidity {
  const [pool, from] = [reader.pubkey(), reader.pubkey()]
  reader.skip(32 + 32 + 4)
  const isAsk = reader.bool()
  reader.skip(16).option((relative) => relative.skip(8))
  let amount = 0n
  for (let left = reader.u32(); left > 0; left -= 1) amount += reader.skip(4).u64()
  return { pool, from, amounts: isAsk ? [amount, 0n] : [0n, amount] }
}

function readRebalance(reader: ByteReader): DlmmRebalance {
  const pool = reader.pubkey()
  reader.skip(32 + 32 + 4)
  const [withdrawnX, addedX, withdrawnY, addedY] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  const fees = [reader.u64(), reader.u64()] as const
  return { pool, withdrawn: [withdrawnX, withdrawnY], added: [addedX, addedY], fees }
}

function readPair(reader: ByteReader): DlmmPair {
  const [pool, binStep] = [reader.pubkey(), reader.u16()]
  return { pool, binStep, tokens: [reader.pubkey(), reader.pubkey()] }
}
