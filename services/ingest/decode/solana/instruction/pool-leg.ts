/**
 * Shared by all pools: the program's event reports the amounts of a swap or a liquidity change, and the token transfers between the
 * wallet's and the pool's accounts must match. For a mint with a transfer fee (Token-2022), swap amounts are the wallet's (sent and
 * received); liquidity amounts are as sent.
 */

import { BadInstruction } from '../decode-errors.js'
import type { Pool, VenueEvent } from '../program-decoder.js'
import type { Instruction, SolanaTransaction } from '../transaction.js'
import { accountAt, eventsOf } from './read-instruction.js'
import { balanceAfter, mintOf, ownerOf, transfersIn } from './vaults.js'

export type Leg = { instruction: Instruction; transaction: SolanaTransaction }

/** A token of a pool: the wallet's account of it, the pool's, and its mint. */
export type Side = { user: string; vault: string; mint: string }

export type Reserves = { reserve0: bigint | null; reserve1: bigint | null }

export const UNKNOWN_RESERVES: Reserves = { reserve0: null, reserve1: null }

/** The events of this name, in order. */
export function eventsNamed(instruction: Instruction, discriminator: string): Uint8Array[] {
  return eventsOf(instruction).flatMap((event) => (event.discriminator === discriminator ? [event.payload] : []))
}

/** If the instruction has all three accounts. */
export function sideAt(instruction: Instruction, user: number, vault: number, mint: number): Side {
  return {
    user: accountAt(instruction, user, 'the wallet’s account'),
    vault: accountAt(instruction, vault, 'the vault'),
    mint: accountAt(instruction, mint, 'the mint'),
  }
}

/** If the instruction does not have the mint. */
export function vaultSide(leg: Leg, user: number, vault: number): Side {
  const address = accountAt(leg.instruction, vault, 'the vault')
  return {
    user: accountAt(leg.instruction, user, 'the wallet’s account'),
    vault: address,
    mint: vaultMint(leg, address),
  }
}

/** The mint of a vault, from the balances. */
export function vaultMint({ instruction, transaction }: Leg, vault: string): string {
  const mint = mintOf(transaction, vault)
  if (mint === null) throw new BadInstruction(instruction, 'malformed', `the balances have no mint for vault ${vault}`)
  return mint
}

/** The amount moved between two accounts; null: the node returned no inner instructions. */
export function movedBetween(instruction: Instruction, source: string, destination: string): bigint | null {
  if (instruction.inner.length === 0) return null
  let moved = 0n
  for (const transfer of transfersIn(instruction))
    if (transfer.source === source && transfer.destination === destination) moved += transfer.amount
  return moved
}

/** The transfer fee, as far as the transfers state it. */
function withheldBetween(instruction: Instruction, source: string, destination: string): bigint {
  let withheld = 0n
  for (const transfer of transfersIn(instruction))
    if (transfer.source === source && transfer.destination === destination) withheld += transfer.fee
  return withheld
}

/** `reported`: by the program's event; null: no event. */
export function agreed(instruction: Instruction, what: string, reported: bigint | null, moved: bigint | null): bigint {
  if (reported !== null && moved !== null && reported !== moved)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `amount (${what}): ${reported} in the event, ${moved} in the transfers`,
    )
  const amount = reported ?? moved
  if (amount === null)
    throw new BadInstruction(instruction, 'amounts_unknown', `amount (${what}) unknown: no event and no transfer`)
  return amount
}

export type Swap = Extract<VenueEvent, { kind: 'swap' }>

/** As sent; `withheld` is the transfer fee within `amountOut`. */
export type SwapAmounts = { amountIn: bigint; amountOut: bigint; withheld?: bigint }

/** The caller adds reserves and price. */
export function swapOf(
  { instruction, transaction }: Leg,
  { pool, sender, input, output }: { pool: Pool; sender: string; input: Side; output: Side },
  reported: SwapAmounts | null,
): Swap {
  const amountIn = agreed(
    instruction,
    'in',
    reported?.amountIn ?? null,
    movedBetween(instruction, input.user, input.vault),
  )
  const paid = movedBetween(instruction, output.vault, output.user)
  const sentOut = agreed(instruction, 'out', reported?.amountOut ?? null, paid)
  const amountOut = sentOut - (reported?.withheld ?? withheldBetween(instruction, output.vault, output.user))
  if (amountOut < 0n) throw new BadInstruction(instruction, 'malformed', `more than the ${sentOut} sent is withheld`)
  if (reported === null && (amountIn === 0n || amountOut === 0n)) {
    const detail = `no event, and the transfers are ${amountIn} in and ${amountOut} out`
    throw new BadInstruction(instruction, 'amounts_unknown', detail)
  }
  if (amountIn === 0n && amountOut === 0n)
    throw new BadInstruction(instruction, 'malformed', 'both amounts of the swap are 0')
  const recipient = ownerOf(transaction, output.user) ?? sender
  return {
    kind: 'swap',
    instruction,
    pool,
    sender,
    recipient,
    tokenIn: input.mint,
    amountIn,
    tokenOut: output.mint,
    amountOut,
    sqrtPrice: null,
    reserve0: null,
    reserve1: null,
  }
}

/** Fills in the same swap. */
export function withReserves(swap: Swap, { reserve0, reserve1 }: Reserves, sqrtPrice: bigint | null): Swap {
  swap.reserve0 = reserve0
  swap.reserve1 = reserve1
  swap.sqrtPrice = sqrtPrice
  return swap
}

/** The amount of one token moved by a liquidity change. */
export function movedByChange(instruction: Instruction, { user, vault }: Side, isAdded: boolean): bigint | null {
  return isAdded ? movedBetween(instruction, user, vault) : movedBetween(instruction, vault, user)
}

/** Event and instruction must name the same pool. */
export function refuseOtherPool(instruction: Instruction, reported: string, pool: string): void {
  if (reported !== pool)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `the pool is ${reported} in the event and ${pool} in the instruction`,
    )
}

/** From the program's own count; unknown if negative, because the event is then not this pool's. */
export function countedReserves(reserve0: bigint, reserve1: bigint): Reserves {
  return reserve0 < 0n || reserve1 < 0n ? UNKNOWN_RESERVES : { reserve0, reserve1 }
}

/** The vaults' balances after `last`: the leg's last call if the instruction has several legs. */
export function vaultReserves(
  { instruction, transaction }: Leg,
  vaults: readonly [string, string],
  last: Instruction = instruction,
): Reserves {
  if (instruction.inner.length === 0) return UNKNOWN_RESERVES
  const [vault0, vault1] = vaults
  return { reserve0: balanceAfter(transaction, vault0, last), reserve1: balanceAfter(transaction, vault1, last) }
}

/** Programs that sort a pool's mints do so by the keys' bytes; base58 without its zeros sorts alike within one length. */
export function isSortedBefore(key: string, other: string): boolean {
  const [digits, others] = [withoutZeros(key), withoutZeros(other)]
  return digits.length === others.length ? digits < others : digits.length < others.length
}

function withoutZeros(key: string): string {
  let zeros = 0
  while (key.charCodeAt(zeros) === 49) zeros += 1
  return key.slice(zeros)
}
