/** Orca Whirlpools (orca-so/whirlpools: programs/whirlpool/src; accounts as in the IDL of @orca-so/whirlpools-sdk). Before it had events, amounts come from the transfers. */

import { BadInstruction } from '../../decode-errors.js'
import { discriminatorOf, instructionDiscriminator } from '../../instruction/anchor.js'
import {
  agreed,
  type Leg,
  movedByChange,
  refuseOtherPool,
  type Side,
  UNKNOWN_RESERVES,
  vaultReserves,
  vaultSide,
} from '../../instruction/pool-leg.js'
import { accountAt } from '../../instruction/read-instruction.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import { decreaseOf, increaseOf, repositionOf } from './whirlpool-events.js'
import { swapped, swappedTwice, swappedTwiceV2, swappedV2, whirlpoolOf } from './whirlpool-swap.js'

type Decode = (leg: Leg) => VenueEvent[]

/** Token B's indexes follow those of token A. The whirlpool is the first account. */
type ChangePlaces = { owner: number; userA: number; vaultA: number }

const V1: ChangePlaces = { owner: 2, userA: 5, vaultA: 7 }
const V2: ChangePlaces = { owner: 4, userA: 9, vaultA: 11 }
const REPOSITION: ChangePlaces = { owner: 4, userA: 10, vaultA: 12 }

const DECODE_OF = new Map<string, Decode>([
  [instructionDiscriminator('swap'), swapped],
  [instructionDiscriminator('swap_v2'), swappedV2],
  [instructionDiscriminator('two_hop_swap'), swappedTwice],
  [instructionDiscriminator('two_hop_swap_v2'), swappedTwiceV2],
  [instructionDiscriminator('initialize_pool'), (leg) => created(leg, 3, 4)],
  [instructionDiscriminator('initialize_pool_v2'), (leg) => created(leg, 5, 6)],
  [instructionDiscriminator('initialize_pool_with_adaptive_fee'), (leg) => created(leg, 5, 7)],
  [instructionDiscriminator('increase_liquidity'), (leg) => changed(leg, true, V1)],
  [instructionDiscriminator('increase_liquidity_v2'), (leg) => changed(leg, true, V2)],
  [instructionDiscriminator('increase_liquidity_by_token_amounts_v2'), (leg) => changed(leg, true, V2)],
  [instructionDiscriminator('decrease_liquidity'), (leg) => changed(leg, false, V1)],
  [instructionDiscriminator('decrease_liquidity_v2'), (leg) => changed(leg, false, V2)],
  [instructionDiscriminator('reposition_liquidity_v2'), repositioned],
])

export const whirlpool: Program = {
  name: 'whirlpool',
  programIds: ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'],
  isPricedByTrades: true,
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    return (discriminator === null ? undefined : DECODE_OF.get(discriminator))?.({ instruction, transaction }) ?? []
  },
}

function created({ instruction }: Leg, funder: number, place: number): VenueEvent[] {
  const creator = accountAt(instruction, funder, 'the funder')
  const [mintA, mintB] = [accountAt(instruction, 1, 'mint A'), accountAt(instruction, 2, 'mint B')]
  const pool = { ...whirlpoolOf(accountAt(instruction, place, 'the whirlpool'), mintA, mintB), creator }
  return [{ kind: 'pool', instruction, pool }]
}

/** Empty if nothing moved: liquidity below one unit of either token. */
function changed(leg: Leg, isAdded: boolean, places: ChangePlaces): VenueEvent[] {
  const { instruction } = leg
  const { pool, sender, a, b } = participants(leg, places)
  const reported = isAdded ? increaseOf(instruction) : decreaseOf(instruction)
  if (reported !== null) refuseOtherPool(instruction, reported.pool, pool.pool)
  const amount0 = agreed(instruction, 'token A', reported?.amounts[0] ?? null, movedByChange(instruction, a, isAdded))
  const amount1 = agreed(instruction, 'token B', reported?.amounts[1] ?? null, movedByChange(instruction, b, isAdded))
  if (amount0 === 0n && amount1 === 0n) return []
  const reserves = vaultReserves(leg, [a.vault, b.vault])
  const change = isAdded ? 'add' : 'remove'
  return [{ kind: 'liquidity', instruction, pool, change, sender, amount0, amount1, ...reserves }]
}

/** From one range to another; reserves are known after both. */
function repositioned(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  const { pool, sender, a, b } = participants(leg, REPOSITION)
  const reported = repositionOf(instruction)
  // The transfers only show the difference.
  if (reported === null) throw new BadInstruction(instruction, 'amounts_unknown', 'a reposition without its event')
  refuseOtherPool(instruction, reported.pool, pool.pool)
  agreed(instruction, 'token A', reported.sent[0], movedByChange(instruction, a, reported.isFromOwner[0]))
  agreed(instruction, 'token B', reported.sent[1], movedByChange(instruction, b, reported.isFromOwner[1]))
  const change = { kind: 'liquidity', instruction, pool, sender } as const
  const [removed, added] = [amountsOf(reported.removed), amountsOf(reported.added)]
  const venueEvents: VenueEvent[] = []
  if (isSome(removed)) venueEvents.push({ ...change, change: 'remove', ...removed, ...UNKNOWN_RESERVES })
  if (isSome(added)) venueEvents.push({ ...change, change: 'add', ...added, ...vaultReserves(leg, [a.vault, b.vault]) })
  return venueEvents
}

type Amounts = { amount0: bigint; amount1: bigint }

function amountsOf([amount0, amount1]: readonly [bigint, bigint]): Amounts {
  return { amount0, amount1 }
}

function isSome({ amount0, amount1 }: Amounts): boolean {
  return amount0 > 0n || amount1 > 0n
}

function participants(leg: Leg, places: ChangePlaces): { pool: Pool; sender: string; a: Side; b: Side } {
  const { instruction } = leg
  const sender = accountAt(instruction, places.owner, 'the authority')
  const [a, b] = [vaultSide(leg, places.userA, places.vaultA), vaultSide(leg, places.userA + 1, places.vaultA + 1)]
  const pool = whirlpoolOf(accountAt(instruction, 0, 'the whirlpool'), a.mint, b.mint)
  return { pool, sender, a, b }
}
