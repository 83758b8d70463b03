/** Orca Whirlpools (orca-so/whirlpools: programs/whirlpool/src; accounts as in the IDL of @orca-so/whirlpools-sdk). Before it had events, amounts come from the transfers. Reserves are what the vaults hold. */
import { BadInstruction } from '../../decode-errors.js'
import {
  agreed,
  type Leg,
  movedByChange,
  refuseOtherPool,
  type Side,
  sideAt,
  swapOf,
  UNKNOWN_RESERVES,
  vaultReserves,
  vaultSide,
  withReserves,
} from '../../instruction/pool-leg.js'
import {
  accountAt,
  discriminatorOf,
  instructionDiscriminator,
  payloadOf,
  readBytes,
} from '../../instruction/read-instruction.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import { decreaseOf, increaseOf, repositionOf, type Traded, tradesOf } from './whirlpool-events.js'

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

function whirlpoolOf(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'orca', token0, token1, fee: null, creator: null }
}

/** One pool of a swap, which passes through one or two. */
type Hop = { pool: string; sender: string; isAIn: boolean; input: Side; output: Side }

function swapped(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  return oneHop(leg, {
    pool: accountAt(instruction, 2, 'the whirlpool'),
    sender: accountAt(instruction, 1, 'the authority'),
    sides: [vaultSide(leg, 3, 4), vaultSide(leg, 5, 6)],
  })
}

function swappedV2(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  return oneHop(leg, {
    pool: accountAt(instruction, 4, 'the whirlpool'),
    sender: accountAt(instruction, 3, 'the authority'),
    sides: [sideAt(instruction, 7, 8, 5), sideAt(instruction, 9, 10, 6)],
  })
}

function oneHop(
  leg: Leg,
  { pool, sender, sides: [a, b] }: { pool: string; sender: string; sides: readonly [Side, Side] },
): VenueEvent[] {
  const isAIn = readBytes(leg.instruction, payloadOf(leg.instruction.data), (reader) => {
    // The amount, the limit of the other amount, the price limit, and which of the two amounts is fixed.
    reader.skip(8 + 8 + 16).bool()
    return reader.bool()
  })
  return hops(leg, [{ pool, sender, isAIn, input: isAIn ? a : b, output: isAIn ? b : a }])
}

function swappedTwice(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  const sender = accountAt(instruction, 1, 'the authority')
  const [isAInOne, isAInTwo] = directionsOf(leg)
  const one = directed(isAInOne, vaultSide(leg, 4, 5), vaultSide(leg, 6, 7))
  const two = directed(isAInTwo, vaultSide(leg, 8, 9), vaultSide(leg, 10, 11))
  return hops(leg, [
    { pool: accountAt(instruction, 2, 'whirlpool one'), sender, isAIn: isAInOne, ...one },
    { pool: accountAt(instruction, 3, 'whirlpool two'), sender, isAIn: isAInTwo, ...two },
  ])
}

/** The intermediate token moves from vault to vault. */
function swappedTwiceV2(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  const sender = accountAt(instruction, 14, 'the authority')
  const [isAInOne, isAInTwo] = directionsOf(leg)
  const between = accountAt(instruction, 3, 'the mint between')
  const [fromOne, toTwo] = [
    accountAt(instruction, 10, 'the vault of one'),
    accountAt(instruction, 11, 'the vault of two'),
  ]
  const one = { input: sideAt(instruction, 8, 9, 2), output: { user: toTwo, vault: fromOne, mint: between } }
  const two = { input: { user: fromOne, vault: toTwo, mint: between }, output: sideAt(instruction, 13, 12, 4) }
  return hops(leg, [
    { pool: accountAt(instruction, 0, 'whirlpool one'), sender, isAIn: isAInOne, ...one },
    { pool: accountAt(instruction, 1, 'whirlpool two'), sender, isAIn: isAInTwo, ...two },
  ])
}

function directionsOf({ instruction }: Leg): readonly [boolean, boolean] {
  return readBytes(instruction, payloadOf(instruction.data), (reader) => {
    // The amount, the limit of the other amount, and which of the two is fixed.
    reader.skip(8 + 8).bool()
    return [reader.bool(), reader.bool()]
  })
}

function directed(isAIn: boolean, a: Side, b: Side): { input: Side; output: Side } {
  return isAIn ? { input: a, output: b } : { input: b, output: a }
}

function hops(leg: Leg, list: readonly Hop[]): VenueEvent[] {
  const events = tradesOf(leg.instruction)
  if (events.length !== 0 && events.length !== list.length)
    throw new BadInstruction(leg.instruction, 'disagreement', `${events.length} events for ${list.length} swaps`)
  return list.map((hop, at) => swapAt(leg, hop, events[at] ?? null))
}

function swapAt(leg: Leg, { pool: address, sender, isAIn, input, output }: Hop, event: Traded | null): VenueEvent {
  const { instruction } = leg
  if (event !== null) {
    refuseOtherPool(instruction, event.pool, address)
    if (event.isAIn !== isAIn)
      throw new BadInstruction(
        instruction,
        'disagreement',
        `the input is token ${event.isAIn ? 'A' : 'B'} in the event and token ${event.isAIn ? 'B' : 'A'} in the instruction`,
      )
  }
  const [a, b] = isAIn ? [input, output] : [output, input]
  const settled = swapOf(leg, { pool: whirlpoolOf(address, a.mint, b.mint), sender, input, output }, event)
  return withReserves(settled, vaultReserves(leg, [a.vault, b.vault]), event?.sqrtPrice ?? null)
}
