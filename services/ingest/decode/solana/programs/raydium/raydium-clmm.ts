/** Raydium CLMM (raydium-clmm: programs/amm/src; raydium-idl: raydium_clmm/amm_v3.json). Reserves are what the vaults hold. Limit orders are held there too but are not the pool's liquidity. */
import { BadInstruction } from '../../decode-errors.js'
import {
  agreed,
  isSortedBefore,
  type Leg,
  movedByChange,
  refuseOtherPool,
  type Side,
  type SwapAmounts,
  swapOf,
  vaultMint,
  vaultReserves,
  vaultSide,
  withReserves,
} from '../../instruction/pool-leg.js'
import { accountAt, discriminatorOf, instructionDiscriminator } from '../../instruction/read-instruction.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import {
  type ClmmChange,
  type ClmmSwap,
  clmmDecreaseOf,
  clmmIncreaseOf,
  clmmOpeningOf,
  clmmSwapsOf,
} from './raydium-clmm-events.js'

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

function clmmPool(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'raydiumclmm', token0, token1, fee: null, creator: null }
}

/** `swap` does not name the mints, `swap_v2` does. */
function clmmSwap(leg: Leg, namesMints: boolean): VenueEvent[] {
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
function clmmRoute(leg: Leg): VenueEvent[] {
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
