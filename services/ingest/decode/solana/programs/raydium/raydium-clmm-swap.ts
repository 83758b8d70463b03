/** Swaps of Raydium CLMM (raydium-clmm: programs/amm/src/instructions/swap.rs, swap_v2.rs, swap_router_base_in.rs). Reserves are what the vaults hold. */

import { BadInstruction } from '../../decode-errors.js'
import {
  isSortedBefore,
  type Leg,
  refuseOtherPool,
  type Side,
  type SwapAmounts,
  swapOf,
  vaultMint,
  vaultReserves,
  withReserves,
} from '../../instruction/pool-leg.js'
import { accountAt } from '../../instruction/read-instruction.js'
import type { Pool, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import { type ClmmSwap, clmmSwapsOf } from './raydium-clmm-events.js'

export function clmmPool(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'raydiumclmm', token0, token1, fee: null, creator: null }
}

/** `swap` does not name the mints, `swap_v2` does. */
export function clmmSwap(leg: Leg, namesMints: boolean): VenueEvent[] {
  const { instruction } = leg
  const [inputVault, outputVault] = [
    accountAt(instruction, 5, 'the input vault'),
    accountAt(instruction, 6, 'the output vault'),
  ]
  const input: Side = {
    user: accountAt(instruction, 3, 'the input account'),
    vault: inputVault,
    mint: namesMints ? accountAt(instruction, 11, 'the input mint') : vaultMint(leg, inputVault),
  }
  const output: Side = {
    user: accountAt(instruction, 4, 'the output account'),
    vault: outputVault,
    mint: namesMints ? accountAt(instruction, 12, 'the output mint') : vaultMint(leg, outputVault),
  }
  const [event = null] = clmmSwapsOf(instruction)
  return [hop(leg, { pool: accountAt(instruction, 2, 'the pool'), input, output }, event, instruction)]
}

type Hop = { pool: string; input: Side; output: Side }

/**
 * Hop after hop, each with a transfer in and one out. A hop's accounts (the pool, the wallet's output account, the vaults and the
 * output mint) come among any number of tick arrays, so they are found by the vaults of the transfers.
 */
export function clmmRoute(leg: Leg): VenueEvent[] {
  const { instruction } = leg
  const calls = instruction.inner.filter(({ transfer }) => transfer !== null && transfer.mint !== null)
  const events = clmmSwapsOf(instruction)
  if (calls.length === 0 || calls.length % 2 !== 0)
    throw new BadInstruction(instruction, 'amounts_unknown', `${calls.length} transfers in a route`)
  if (events.length > 0 && events.length * 2 !== calls.length)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `${events.length} events, ${calls.length} transfers in a route`,
    )
  const venueEvents: VenueEvent[] = []
  let user = accountAt(instruction, 1, 'the input account')
  let mint = accountAt(instruction, 2, 'the input mint')
  for (let at = 0; at < calls.length; at += 2) {
    const [paid, received] = [calls[at], calls[at + 1]]
    if (paid === undefined || received === undefined) continue
    const place = placeOfVaults(instruction, paid, received)
    const input: Side = { user, vault: accountAt(instruction, place, 'the input vault'), mint }
    const output: Side = {
      user: accountAt(instruction, place - 1, 'the output account'),
      vault: accountAt(instruction, place + 1, 'the output vault'),
      mint: accountAt(instruction, place + 2, 'the output mint'),
    }
    const hopLeg = { ...leg, instruction: { ...instruction, inner: [paid, received] } }
    const pool = accountAt(instruction, place - 2, 'the pool')
    venueEvents.push({ ...hop(hopLeg, { pool, input, output }, events[at / 2] ?? null, received), instruction })
    user = output.user
    mint = output.mint
  }
  return venueEvents
}

function placeOfVaults(instruction: Instruction, paid: Instruction, received: Instruction): number {
  const { accounts } = instruction
  for (let place = 2; place + 2 < accounts.length; place += 1)
    if (accounts[place] === paid.transfer?.destination && accounts[place + 1] === received.transfer?.source)
      return place
  throw new BadInstruction(instruction, 'malformed', 'the accounts of a hop are not in the route')
}

function hop(leg: Leg, { pool: address, input, output }: Hop, event: ClmmSwap | null, last: Instruction): VenueEvent {
  const { instruction } = leg
  const sender = accountAt(instruction, 0, 'the payer')
  const isZeroIn = isSortedBefore(input.mint, output.mint)
  const pool = isZeroIn ? clmmPool(address, input.mint, output.mint) : clmmPool(address, output.mint, input.mint)
  if (event !== null) {
    refuseOtherPool(instruction, event.pool, address)
    if (event.isZeroIn !== isZeroIn)
      throw new BadInstruction(
        instruction,
        'disagreement',
        `the input is token ${event.isZeroIn ? 0 : 1} in the event and token ${event.isZeroIn ? 1 : 0} in the vaults`,
      )
  }
  const settled = swapOf(leg, { pool, sender, input, output }, event === null ? null : readEventOf(event))
  const vaults = isZeroIn ? ([input.vault, output.vault] as const) : ([output.vault, input.vault] as const)
  return withReserves(settled, vaultReserves(leg, vaults, last), event?.sqrtPrice ?? null)
}

function readEventOf({ isZeroIn, arrived, withheld }: ClmmSwap): SwapAmounts {
  const [input, output] = isZeroIn ? ([0, 1] as const) : ([1, 0] as const)
  const amountOut = arrived[output] + withheld[output]
  return { amountIn: arrived[input] + withheld[input], amountOut, withheld: withheld[output] }
}
