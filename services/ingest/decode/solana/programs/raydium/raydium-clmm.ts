/** Raydium CLMM (raydium-clmm: programs/amm/src; raydium-idl: raydium_clmm/amm_v3.json). Limit orders are held in the vaults but are not the pool's liquidity. */

import { BadInstruction } from '../../decode-errors.js'
import { discriminatorOf, instructionDiscriminator } from '../../instruction/anchor.js'
import {
  agreed,
  type Leg,
  movedByChange,
  refuseOtherPool,
  vaultReserves,
  vaultSide,
} from '../../instruction/pool-leg.js'
import { accountAt } from '../../instruction/read-instruction.js'
import type { Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import { type ClmmChange, clmmDecreaseOf, clmmIncreaseOf, clmmOpeningOf } from './raydium-clmm-events.js'
import { clmmPool, clmmRoute, clmmSwap } from './raydium-clmm-swap.js'

type Decode = (leg: Leg) => VenueEvent[]

/** Token 1's indexes follow those of token 0. */
type ChangePlaces = { pool: number; user0: number; vault0: number }

const DECODE_OF = new Map<string, Decode>([
  [instructionDiscriminator('swap'), (leg) => clmmSwap(leg, false)],
  [instructionDiscriminator('swap_v2'), (leg) => clmmSwap(leg, true)],
  [instructionDiscriminator('swap_router_base_in'), clmmRoute],
  [instructionDiscriminator('create_pool'), (leg) => created(leg, { creator: 0, pool: 2, mint0: 3 })],
  [instructionDiscriminator('create_customizable_pool'), (leg) => created(leg, { creator: 0, pool: 2, mint0: 3 })],
  [instructionDiscriminator('create_permissioned_pool'), (leg) => created(leg, { creator: 1, pool: 4, mint0: 5 })],
  [instructionDiscriminator('open_position'), added(clmmOpeningOf, { pool: 5, user0: 10, vault0: 12 })],
  [instructionDiscriminator('open_position_v2'), added(clmmOpeningOf, { pool: 5, user0: 10, vault0: 12 })],
  [instructionDiscriminator('open_position_with_token22_nft'), added(clmmOpeningOf, { pool: 4, user0: 9, vault0: 11 })],
  [instructionDiscriminator('increase_liquidity'), added(clmmIncreaseOf, { pool: 2, user0: 7, vault0: 9 })],
  [instructionDiscriminator('increase_liquidity_v2'), added(clmmIncreaseOf, { pool: 2, user0: 7, vault0: 9 })],
  [instructionDiscriminator('decrease_liquidity'), removed],
  [instructionDiscriminator('decrease_liquidity_v2'), removed],
])

export const raydiumClmm: Program = {
  name: 'raydium-clmm',
  programIds: ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'],
  isPricedByTrades: true,
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    return (discriminator === null ? undefined : DECODE_OF.get(discriminator))?.({ instruction, transaction }) ?? []
  },
}

function created({ instruction }: Leg, places: { creator: number; pool: number; mint0: number }): VenueEvent[] {
  const creator = accountAt(instruction, places.creator, 'the creator')
  const address = accountAt(instruction, places.pool, 'the pool')
  const token0 = accountAt(instruction, places.mint0, 'mint 0')
  const token1 = accountAt(instruction, places.mint0 + 1, 'mint 1')
  return [{ kind: 'pool', instruction, pool: { ...clmmPool(address, token0, token1), creator } }]
}

function added(readEventOf: (instruction: Instruction) => ClmmChange | null, places: ChangePlaces): Decode {
  return (leg) => changed(leg, 'add', readEventOf(leg.instruction), places)
}

function removed(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  const reported = clmmDecreaseOf(instruction)
  // A transfer pays liquidity and fees together.
  if (reported === null) throw new BadInstruction(instruction, 'amounts_unknown', 'a decrease without its event')
  return changed(leg, 'remove', reported, { pool: 3, user0: 9, vault0: 5 })
}

/** Empty if no liquidity moves: a position opened empty, or only fees collected. */
function changed(leg: Leg, change: 'add' | 'remove', reported: ClmmChange | null, places: ChangePlaces): VenueEvent[] {
  const { instruction } = leg
  const sender = accountAt(instruction, 0, 'the owner')
  const address = accountAt(instruction, places.pool, 'the pool')
  if (reported?.pool) refuseOtherPool(instruction, reported.pool, address)
  const [side0, side1] = [
    vaultSide(leg, places.user0, places.vault0),
    vaultSide(leg, places.user0 + 1, places.vault0 + 1),
  ]
  const isAdded = change === 'add'
  const sent0 = agreed(instruction, 'token 0', reported?.sent[0] ?? null, movedByChange(instruction, side0, isAdded))
  const sent1 = agreed(instruction, 'token 1', reported?.sent[1] ?? null, movedByChange(instruction, side1, isAdded))
  const [amount0, amount1] = reported?.amounts ?? [sent0, sent1]
  if (amount0 === 0n && amount1 === 0n) return []
  const pool = clmmPool(address, side0.mint, side1.mint)
  const reserves = vaultReserves(leg, [side0.vault, side1.vault])
  return [{ kind: 'liquidity', instruction, pool, change, sender, amount0, amount1, ...reserves }]
}
