/**
 * The wrapped native coin (WETH9 and its forks): what is wrapped appears and what is unwrapped is gone by logs of its own, without a
 * Transfer. Later wrappers (Arbitrum's) send a Transfer from or to nobody instead, some both; then the Transfer counts.
 */
import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import { topicOf } from './abi/keccak.js'
import { expectShape, indexedAddress, uintAt } from './abi/log-fields.js'
import { TRANSFER, type Transfer, transferOf } from './erc20.js'
import type { EvmLog } from './log.js'
import { BadLog } from './protocol.js'

const DEPOSIT = topicOf('Deposit(address,uint256)')
const WITHDRAWAL = topicOf('Withdrawal(address,uint256)')

export const WRAPPING_TOPICS = [DEPOSIT, WITHDRAWAL]

/** Wrapping and unwrapping as a transfer from or to nobody. `near`: the logs right before and after it. */
export function wrappingOf(log: EvmLog, near: readonly (EvmLog | undefined)[]): Transfer | null {
  const topic = log.topics[0]
  if (topic !== DEPOSIT && topic !== WITHDRAWAL) return null
  try {
    expectShape(log, 2, 1)
    const [holder, amount] = [indexedAddress(log, 1), uintAt(log, 0)]
    const moved = topic === DEPOSIT ? { from: ZERO_ADDRESS, to: holder } : { from: holder, to: ZERO_ADDRESS }
    const isTold = near.some((other) => other !== undefined && isSame(other, log, moved, amount))
    return isTold ? null : { token: log.address, ...moved, amount }
  } catch (error) {
    if (error instanceof BadLog) return null
    throw error
  }
}

function isSame(other: EvmLog, log: EvmLog, moved: Pick<Transfer, 'from' | 'to'>, amount: bigint): boolean {
  if (other.topics[0] !== TRANSFER || other.address !== log.address || other.txHash !== log.txHash) return false
  if (Math.abs(other.logIndex - log.logIndex) !== 1) return false
  const transfer = transferOf(other)
  return transfer !== null && transfer.from === moved.from && transfer.to === moved.to && transfer.amount === amount
}
