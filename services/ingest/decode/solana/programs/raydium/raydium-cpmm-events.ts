/** Events of Raydium CPMM (raydium-cp-swap: programs/cp-swap/src/states/events.rs). Vault amounts are from before, less fees that are not the pool's. */
import { eventDiscriminator } from '../../instruction/anchor.js'
import { eventsNamed } from '../../instruction/pool-leg.js'
import { readBytes } from '../../instruction/read-instruction.js'
import type { Instruction } from '../../transaction.js'

const SWAP = eventDiscriminator('SwapEvent')
const LP_CHANGE = eventDiscriminator('LpChangeEvent')

export type CpmmSwap = {
  pool: string
  inputBefore: bigint
  outputBefore: bigint
  /** What reached the vault. */
  input: bigint
  inputTransferFee: bigint
  /** What left the vault. */
  output: bigint
  outputTransferFee: bigint
  /** Kept in the vaults for the pool's creator; the first version of the event had no such fee. */
  creatorFee: bigint
  isCreatorFeeOnInput: boolean
}

export function cpmmSwapOf(instruction: Instruction): CpmmSwap | null {
  const [payload] = eventsNamed(instruction, SWAP)
  if (payload === undefined) return null
  return readBytes(instruction, payload, (reader) => {
    const pool = reader.pubkey()
    const [inputBefore, outputBefore] = [reader.u64(), reader.u64()]
    const [input, output] = [reader.u64(), reader.u64()]
    const [inputTransferFee, outputTransferFee] = [reader.u64(), reader.u64()]
    // Whether the input amount was fixed.
    reader.bool()
    const hasCreatorFee = reader.left > 0
    // After both mints and the trade fee.
    const creatorFee = hasCreatorFee ? reader.skip(32 + 32 + 8).u64() : 0n
    const isCreatorFeeOnInput = hasCreatorFee && reader.bool()
    const amounts = { inputBefore, outputBefore, input, inputTransferFee, output, outputTransferFee }
    return { pool, ...amounts, creatorFee, isCreatorFeeOnInput }
  })
}

export type CpmmLiquidity = {
  pool: string
  isDeposit: boolean
  /** Per token, as sent: including transfer fees. */
  amounts: readonly [bigint, bigint]
  before: readonly [bigint, bigint]
  /** What reaches the vaults in a deposit, or leaves them in a withdrawal. */
  toVaults: readonly [bigint, bigint]
}

export function cpmmLiquidityOf(instruction: Instruction): CpmmLiquidity | null {
  const [payload] = eventsNamed(instruction, LP_CHANGE)
  if (payload === undefined) return null
  return readBytes(instruction, payload, (reader) => {
    const pool = reader.pubkey()
    const before = [reader.skip(8).u64(), reader.u64()] as const
    // Reported without transfer fees: what arrives in the vaults or wallet.
    const arrived = [reader.u64(), reader.u64()] as const
    const fees = [reader.u64(), reader.u64()] as const
    const isDeposit = !reader.bool()
    const amounts = [arrived[0] + fees[0], arrived[1] + fees[1]] as const
    return { pool, isDeposit, amounts, before, toVaults: isDeposit ? arrived : [-amounts[0], -amounts[1]] }
  })
}
