/** Swaps of Orca's Whirlpools through one pool or two (orca-so/whirlpools: programs/whirlpool/src/instructions). Reserves are what the vaults hold. */

import { BadInstruction } from '../../decode-errors.js'
import { payloadOf } from '../../instruction/anchor.js'
import {
  type Leg,
  refuseOtherPool,
  type Side,
  sideAt,
  swapOf,
  vaultReserves,
  vaultSide,
  withReserves,
} from '../../instruction/pool-leg.js'
import { accountAt, readBytes } from '../../instruction/read-instruction.js'
import type { Pool, VenueEvent } from '../../program-decoder.js'
import { type Traded, tradesOf } from './whirlpool-events.js'

export function whirlpoolOf(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'orca', token0, token1, fee: null, creator: null }
}

type Hop = { pool: string; sender: string; isAIn: boolean; input: Side; output: Side }

export function swapped(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  return oneHop(leg, {
    pool: accountAt(instruction, 2, 'the whirlpool'),
    sender: accountAt(instruction, 1, 'the authority'),
    sides: [vaultSide(leg, 3, 4), vaultSide(leg, 5, 6)],
  })
}

export function swappedV2(leg: Leg): VenueEvent[] {
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

export function swappedTwice(leg: Leg): VenueEvent[] {
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
export function swappedTwiceV2(leg: Leg): VenueEvent[] {
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
