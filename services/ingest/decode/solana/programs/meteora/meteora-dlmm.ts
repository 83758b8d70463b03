/**
 * Meteora's DLMM: liquidity in bins, a price a bin (its IDL, `lb_clmm` 0.12.0, in npm's `@meteora-ag/dlmm`). The fee varies with the price, so a pair has no fixed fee. Reserves include unclaimed fees.
 */
import { accountAt, discriminatorOf, instructionDiscriminator } from '../../instruction/read-instruction.js'
import { type Call, expectPool, swapThrough } from '../../instruction/vault-pool.js'
import type { Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import { dlmmCreated, dlmmSwap } from './meteora-dlmm-events.js'
import { dlmmLiquidity, dlmmPool } from './meteora-dlmm-liquidity.js'

const SWAPS = new Set(
  ['swap', 'swap2', 'swap_exact_out', 'swap_exact_out2', 'swap_with_price_impact', 'swap_with_price_impact2'].map(
    instructionDiscriminator,
  ),
)

/** Indexes of the pair, its first mint and the payer. */
const CREATIONS = new Map<string, { pool: number; tokens: number; creator: number }>([
  [instructionDiscriminator('initialize_lb_pair'), { pool: 0, tokens: 2, creator: 8 }],
  [instructionDiscriminator('initialize_lb_pair2'), { pool: 0, tokens: 2, creator: 8 }],
  [instructionDiscriminator('initialize_customizable_permissionless_lb_pair'), { pool: 0, tokens: 2, creator: 8 }],
  [instructionDiscriminator('initialize_customizable_permissionless_lb_pair2'), { pool: 0, tokens: 2, creator: 8 }],
  [instructionDiscriminator('initialize_permission_lb_pair'), { pool: 1, tokens: 3, creator: 8 }],
])

export const meteoraDlmm: Program = {
  name: 'meteora-dlmm',
  programIds: ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'],
  isPricedByTrades: true,
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    if (discriminator === null) return []
    const call = { instruction, transaction }
    if (SWAPS.has(discriminator)) return swap(call)
    const places = CREATIONS.get(discriminator)
    if (places !== undefined) return created(instruction, places)
    return dlmmLiquidity(discriminator, call)
  },
}

function swap(call: Call): VenueEvent[] {
  const { instruction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const pool = dlmmPool(at(0, 'the pair'), at(6, 'the mint of X'), at(7, 'the mint of Y'))
  const reported = dlmmSwap(instruction)
  expectPool(instruction, pool.pool, reported.pool)
  return swapThrough(
    call,
    {
      pool,
      vaults: [at(2, 'the reserve of X'), at(3, 'the reserve of Y')],
      tokenPrograms: [at(11, 'the token program of X'), at(12, 'the token program of Y')],
    },
    {
      sender: at(10, 'the user'),
      source: at(4, 'the account it sells from'),
      destination: at(5, 'the account it buys to'),
    },
    {
      isZeroIn: reported.isForY,
      amountIn: reported.amountIn,
      amountOut: reported.amountOut,
      sqrtPrice: null,
      reserves: null,
    },
  )
}

function created(instruction: Instruction, places: { pool: number; tokens: number; creator: number }): VenueEvent[] {
  const reported = dlmmCreated(instruction)
  expectPool(instruction, accountAt(instruction, places.pool, 'the pair'), reported.pool)
  expectPool(instruction, accountAt(instruction, places.tokens, 'the mint of X'), reported.tokens[0])
  expectPool(instruction, accountAt(instruction, places.tokens + 1, 'the mint of Y'), reported.tokens[1])
  const creator = accountAt(instruction, places.creator, 'the payer')
  return [{ kind: 'pool', instruction, pool: { ...dlmmPool(reported.pool, ...reported.tokens), creator } }]
}
