/**
 * A pair's logs. 2.1 and 2.2 pack two amounts in a word, token X in the low half (joe-v2: ILBPair.sol, LBPair.sol,
 * PackedUint128Math.sol); 2.0 has different events (joe-v2 before 2.1: ILBPair.sol).
 */

import { topicOf } from '../../abi/keccak.js'
import { boolAt, bytes32sAt, expectShape, indexedAddress, uintAt, uintsAt } from '../../abi/log-fields.js'
import type { EvmLog } from '../../log.js'
import { BadLog } from '../../protocol.js'
import type { VenueState } from '../../venue.js'

const SWAP = topicOf('Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)')
const DEPOSITED = topicOf('DepositedToBins(address,address,uint256[],bytes32[])')
const WITHDRAWN = topicOf('WithdrawnFromBins(address,address,uint256[],bytes32[])')
const FLASH_LOAN = topicOf('FlashLoan(address,address,uint24,bytes32,bytes32,bytes32)')
const SWAP_20 = topicOf('Swap(address,address,uint256,bool,uint256,uint256,uint256,uint256)')
const DEPOSITED_20 = topicOf('DepositedToBin(address,address,uint256,uint256,uint256)')
const WITHDRAWN_20 = topicOf('WithdrawnFromBin(address,address,uint256,uint256,uint256)')

/**
 * Not decoded because they leave `getReserves` unchanged: CompositionFees (deposits are logged without the protocol's
 * share), CollectedProtocolFees, and 2.0's FlashLoan, CompositionFee, FeesCollected, ProtocolFeesCollected (fees are
 * held outside the bins).
 */
export const TOPICS = [SWAP, DEPOSITED, WITHDRAWN, FLASH_LOAN, SWAP_20, DEPOSITED_20, WITHDRAWN_20] as const

type Amounts = readonly [bigint, bigint]

export type BinSwap = {
  sender: string
  recipient: string
  tokenIn: 0 | 1
  /** What the trader pays, all fees included. */
  amountIn: bigint
  amountOut: bigint
  /** What the bin gains, by token. */
  toBins: Amounts
}

export type BookState = VenueState & {
  /** A swap that may continue in the next bin. */
  open: (BinSwap & { log: EvmLog }) | null
  /** A swap's bin that was refused: the bins right after it belong to the same swap. */
  refused?: EvmLog
}

export const isBinSwap = ({ topics }: EvmLog): boolean => topics[0] === SWAP || topics[0] === SWAP_20

/** Null: another event. */
export function binSwapOf(log: EvmLog): BinSwap | null {
  if (log.topics[0] === SWAP) return swap21(log)
  if (log.topics[0] === SWAP_20) return swap20(log)
  return null
}

function swap21(log: EvmLog): BinSwap {
  expectShape(log, 3, 6)
  // The bin's gain: the protocol's share of the fee is already deducted.
  const [inX, inY] = unpacked(uintAt(log, 1))
  const [outX, outY] = unpacked(uintAt(log, 2))
  const [feeX, feeY] = unpacked(uintAt(log, 5))
  if ((inX > 0n || outY > 0n) === (inY > 0n || outX > 0n)) throw new BadLog(log, 'swap without a direction')
  const tokenIn = inX > 0n || outY > 0n ? 0 : 1
  return {
    sender: indexedAddress(log, 1),
    recipient: indexedAddress(log, 2),
    tokenIn,
    amountIn: tokenIn === 0 ? inX + feeX : inY + feeY,
    amountOut: tokenIn === 0 ? outY : outX,
    toBins: [inX - outX, inY - outY],
  }
}

function swap20(log: EvmLog): BinSwap {
  expectShape(log, 4, 5)
  const tokenIn = boolAt(log, 0) ? 0 : 1
  const [toBin, amountOut, fees] = [uintAt(log, 1, 128), uintAt(log, 2, 128), uintAt(log, 4, 128)]
  return {
    sender: indexedAddress(log, 1),
    recipient: indexedAddress(log, 2),
    tokenIn,
    amountIn: toBin + fees,
    amountOut,
    toBins: tokenIn === 0 ? [toBin, -amountOut] : [-amountOut, toBin],
  }
}

export type BinChange = { kind: 'add' | 'remove' | 'fees'; sender: string; toBins: Amounts }

export function changeOf(log: EvmLog): BinChange {
  const sender = indexedAddress(log, 1)
  switch (log.topics[0]) {
    case DEPOSITED:
      return { kind: 'add', sender, toBins: sumOfBins(log) }
    case WITHDRAWN: {
      const [amountX, amountY] = sumOfBins(log)
      return { kind: 'remove', sender, toBins: [-amountX, -amountY] }
    }
    case FLASH_LOAN: {
      expectShape(log, 3, 4)
      const [totalX, totalY] = unpacked(uintAt(log, 2))
      const [protocolX, protocolY] = unpacked(uintAt(log, 3))
      return { kind: 'fees', sender, toBins: [totalX - protocolX, totalY - protocolY] }
    }
    case DEPOSITED_20:
      expectShape(log, 4, 2)
      return { kind: 'add', sender, toBins: [uintAt(log, 0, 128), uintAt(log, 1, 128)] }
    default:
      expectShape(log, 4, 2)
      return { kind: 'remove', sender, toBins: [-uintAt(log, 0, 128), -uintAt(log, 1, 128)] }
  }
}

function sumOfBins(log: EvmLog): Amounts {
  if (log.topics.length !== 3) throw new BadLog(log, `${log.topics.length} topics, expected 3`)
  const [bins, amounts] = [uintsAt(log, 0), bytes32sAt(log, 1)]
  if (bins.length !== amounts.length) throw new BadLog(log, 'lists of unequal length')
  let [sumX, sumY] = [0n, 0n]
  for (const word of amounts) {
    const [amountX, amountY] = unpacked(BigInt(word))
    sumX += amountX
    sumY += amountY
  }
  return [sumX, sumY]
}

function unpacked(word: bigint): Amounts {
  return [BigInt.asUintN(128, word), word >> 128n]
}
