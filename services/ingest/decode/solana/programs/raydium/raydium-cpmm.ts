/**
 * Raydium CPMM (raydium-cp-swap: programs/cp-swap/src/instructions). Reserves are what the program counts as the pool's: the vaults less the fees of protocol,
 * fund and creator. The event does not include the protocol's and the fund's share of its own fee: they stay in the reserve until the next event.
 */
import { BadInstruction } from '../../decode-errors.js'
import {
  agreed,
  countedReserves,
  eventsNamed,
  isSortedBefore,
  type Leg,
  movedBetween,
  movedByChange,
  type Reserves,
  refuseOtherPool,
  type SwapAmounts,
  sideAt,
  swapOf,
  vaultReserves,
  withReserves,
} from '../../instruction/pool-leg.js'
import {
  accountAt,
  discriminatorOf,
  eventDiscriminator,
  instructionDiscriminator,
  readBytes,
} from '../../instruction/read-instruction.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'

const SWAP_BASE_INPUT = instructionDiscriminator('swap_base_input')
const SWAP_BASE_OUTPUT = instructionDiscriminator('swap_base_output')
const DEPOSIT = instructionDiscriminator('deposit')
const WITHDRAW = instructionDiscriminator('withdraw')
const INITIALIZE = instructionDiscriminator('initialize')
const INITIALIZE_WITH_PERMISSION = instructionDiscriminator('initialize_with_permission')

export const raydiumCpmm: Program = {
  name: 'raydium-cpmm',
  programIds: ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'],
  decode(instruction, transaction) {
    const leg = { instruction, transaction }
    switch (discriminatorOf(instruction.data)) {
      case SWAP_BASE_INPUT:
      case SWAP_BASE_OUTPUT:
        return [swap(leg)]
      case DEPOSIT:
        return [liquidity(leg, true)]
      case WITHDRAW:
        return [liquidity(leg, false)]
      case INITIALIZE:
        return initialize(leg, { sender: 0, creator: 0, pool: 3, mint0: 4, user0: 7, vault0: 10 })
      case INITIALIZE_WITH_PERMISSION:
        return initialize(leg, { sender: 0, creator: 1, pool: 4, mint0: 5, user0: 8, vault0: 11 })
      default:
        return []
    }
  },
}

function swap(leg: Leg): VenueEvent {
  const { instruction } = leg
  const sender = accountAt(instruction, 0, 'the payer')
  const input = sideAt(instruction, 4, 6, 10)
  const output = sideAt(instruction, 5, 7, 11)
  const isZeroIn = isSortedBefore(input.mint, output.mint)
  const pool = poolAt(leg, 3, isZeroIn ? [input.mint, output.mint] : [output.mint, input.mint])
  const event = cpmmSwapOf(instruction)
  if (event !== null) refuseOtherPool(instruction, event.pool, pool.pool)
  const reported = event === null ? null : readEventOf(event)
  const settled = swapOf(leg, { pool, sender, input, output }, reported)
  const vaults = [isZeroIn ? input.vault : output.vault, isZeroIn ? output.vault : input.vault] as const
  const reserves = event === null ? vaultReserves(leg, vaults) : swapReserves(event, isZeroIn)
  return withReserves(settled, reserves, null)
}

function readEventOf({ input, inputTransferFee, output, outputTransferFee }: CpmmSwap): SwapAmounts {
  return { amountIn: input + inputTransferFee, amountOut: output, withheld: outputTransferFee }
}

function swapReserves(event: CpmmSwap, isZeroIn: boolean): Reserves {
  const { inputBefore, outputBefore, input, output, creatorFee, isCreatorFeeOnInput } = event
  const inputAfter = inputBefore + input - (isCreatorFeeOnInput ? creatorFee : 0n)
  const outputAfter = outputBefore - output - (isCreatorFeeOnInput ? 0n : creatorFee)
  return isZeroIn ? countedReserves(inputAfter, outputAfter) : countedReserves(outputAfter, inputAfter)
}

function liquidity(leg: Leg, isDeposit: boolean): VenueEvent {
  const { instruction } = leg
  const sender = accountAt(instruction, 0, 'the owner')
  const [side0, side1] = [sideAt(instruction, 4, 6, 10), sideAt(instruction, 5, 7, 11)]
  const pool = poolAt(leg, 2, [side0.mint, side1.mint])
  const event = cpmmLiquidityOf(instruction)
  if (event !== null) refuseOtherPool(instruction, event.pool, pool.pool)
  if (event !== null && event.isDeposit !== isDeposit)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `a ${isDeposit ? 'deposit' : 'withdrawal'} in the instruction, a ${isDeposit ? 'withdrawal' : 'deposit'} in the event`,
    )
  const amount0 = agreed(
    instruction,
    'token 0',
    event?.amounts[0] ?? null,
    movedByChange(instruction, side0, isDeposit),
  )
  const amount1 = agreed(
    instruction,
    'token 1',
    event?.amounts[1] ?? null,
    movedByChange(instruction, side1, isDeposit),
  )
  const reserves =
    event === null
      ? vaultReserves(leg, [side0.vault, side1.vault])
      : countedReserves(event.before[0] + event.toVaults[0], event.before[1] + event.toVaults[1])
  const change = isDeposit ? 'add' : 'remove'
  return { kind: 'liquidity', instruction, pool, change, sender, amount0, amount1, ...reserves }
}

/** Token 1's indexes follow those of token 0. It has no event. */
type InitializePlaces = Record<'sender' | 'creator' | 'pool' | 'mint0' | 'user0' | 'vault0', number>

function initialize(leg: Leg, places: InitializePlaces): VenueEvent[] {
  const { instruction } = leg
  const sender = accountAt(instruction, places.sender, 'the payer')
  const creator = accountAt(instruction, places.creator, 'the creator')
  const side0 = sideAt(instruction, places.user0, places.vault0, places.mint0)
  const side1 = sideAt(instruction, places.user0 + 1, places.vault0 + 1, places.mint0 + 1)
  const pool = { ...poolAt(leg, places.pool, [side0.mint, side1.mint]), creator }
  const amount0 = agreed(instruction, 'token 0', null, movedBetween(instruction, side0.user, side0.vault))
  const amount1 = agreed(instruction, 'token 1', null, movedBetween(instruction, side1.user, side1.vault))
  const reserves = vaultReserves(leg, [side0.vault, side1.vault])
  return [
    { kind: 'pool', instruction, pool },
    { kind: 'liquidity', instruction, pool, change: 'create', sender, amount0, amount1, ...reserves },
  ]
}

function poolAt({ instruction }: Leg, place: number, [token0, token1]: readonly [string, string]): Pool {
  const pool = accountAt(instruction, place, 'the pool')
  return { pool, amm: 'raydiumcpmm', token0, token1, fee: null, creator: null }
}

/** Events (raydium-cp-swap: programs/cp-swap/src/states/events.rs). Vault amounts are from before, less fees that are not the pool's. */
const SWAP = eventDiscriminator('SwapEvent')
const LP_CHANGE = eventDiscriminator('LpChangeEvent')

type CpmmSwap = {
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
