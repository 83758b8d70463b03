/**
 * What pools of every kind have in common: the program's event tells the amounts of a swap or of a change of liquidity, and the token transfers between the
 * wallet's and the pool's accounts must say the same. Of a mint with a transfer fee (Token-2022) a swap's amounts are the wallet's: in is what left it, out
 * what reached it; those of liquidity are as sent.
 */

import { BadInstruction } from '../decode-errors.js'
import type { VenueEvent, Pool } from '../program-decoder.js'
import type { Instruction, SolanaTransaction } from '../transaction.js'
import { eventsOf } from './anchor.js'
import { accountAt } from './read-instruction.js'
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

/** Where the instruction names all three. */
export function sideAt(instruction: Instruction, user: number, vault: number, mint: number): Side {
  return {
    user: accountAt(instruction, user, 'the wallet’s account'),
    vault: accountAt(instruction, vault, 'the vault'),
    mint: accountAt(instruction, mint, 'the mint'),
  }
}

/** Where the instruction does not name the mint. */
export function vaultSide(leg: Leg, user: number, vault: number): Side {
  const address = accountAt(leg.instruction, vault, 'the vault')
  return {
    user: accountAt(leg.instruction, user, 'the wallet’s account'),
    vault: address,
    mint: vaultMint(leg, address),
  }
}

/** Of a vault whose mint the instruction does not name. */
export function vaultMint({ instruction, transaction }: Leg, vault: string): string {
  const mint = mintOf(transaction, vault)
  if (mint === null) throw new BadInstruction(instruction, 'malformed', `no balance tells the mint of vault ${vault}`)
  return mint
}

/** What went from one account to the other; null: the node told nothing of what the instruction called. */
export function movedBetween(instruction: Instruction, source: string, destination: string): bigint | null {
  if (instruction.inner.length === 0) return null
  let moved = 0n
  for (const transfer of transfersIn(instruction))
    if (transfer.source === source && transfer.destination === destination) moved += transfer.amount
  return moved
}

/** Where the transfers themselves say so. */
function withheldBetween(instruction: Instruction, source: string, destination: string): bigint {
  let withheld = 0n
  for (const transfer of transfersIn(instruction))
    if (transfer.source === source && transfer.destination === destination) withheld += transfer.fee
  return withheld
}

/** `told`: by the program's event; null: there is none. */
export function agreed(instruction: Instruction, what: string, reported: bigint | null, moved: bigint | null): bigint {
  if (reported !== null && moved !== null && reported !== moved)
    throw new BadInstruction(instruction, 'disagreement', `${what}: the event tells ${reported}, the transfers ${moved}`)
  const amount = reported ?? moved
  if (amount === null) throw new BadInstruction(instruction, 'amounts_unknown', `${what}: no event and no transfer`)
  return amount
}

export type Swap = Extract<VenueEvent, { kind: 'swap' }>

/** As sent; `withheld` is the transfer fee within `amountOut`. */
export type SwapAmounts = { amountIn: bigint; amountOut: bigint; withheld?: bigint }

/** Its reserves and price are for the caller to add. */
export function swapOf(
  { instruction, transaction }: Leg,
  { pool, sender, input, output }: { pool: Pool; sender: string; input: Side; output: Side },
  reported: SwapAmounts | null,
): Swap {
  const amountIn = agreed(instruction, 'in', reported?.amountIn ?? null, movedBetween(instruction, input.user, input.vault))
  const paid = movedBetween(instruction, output.vault, output.user)
  const sentOut = agreed(instruction, 'out', reported?.amountOut ?? null, paid)
  const amountOut = sentOut - (reported?.withheld ?? withheldBetween(instruction, output.vault, output.user))
  if (amountOut < 0n) throw new BadInstruction(instruction, 'malformed', `of ${sentOut} more is withheld`)
  if (reported === null && (amountIn === 0n || amountOut === 0n)) {
    const detail = `no event, and transfers of ${amountIn} in and ${amountOut} out`
    throw new BadInstruction(instruction, 'amounts_unknown', detail)
  }
  if (amountIn === 0n && amountOut === 0n) throw new BadInstruction(instruction, 'malformed', 'a swap of nothing')
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

/** The same swap, filled in. */
export function withReserves(swap: Swap, { reserve0, reserve1 }: Reserves, sqrtPrice: bigint | null): Swap {
  swap.reserve0 = reserve0
  swap.reserve1 = reserve1
  swap.sqrtPrice = sqrtPrice
  return swap
}

/** What the wallet and the pool moved of one token in a change of liquidity. */
export function movedByChange(instruction: Instruction, { user, vault }: Side, isAdded: boolean): bigint | null {
  return isAdded ? movedBetween(instruction, user, vault) : movedBetween(instruction, vault, user)
}

/** The event and the instruction name the pool. */
export function refuseOtherPool(instruction: Instruction, reported: string, pool: string): void {
  if (reported !== pool)
    throw new BadInstruction(instruction, 'disagreement', `the event is of pool ${reported}, the instruction of ${pool}`)
}

/** From what a program counts as the pool's; less than nothing: it was another's event, and nothing is known. */
export function countedReserves(reserve0: bigint, reserve1: bigint): Reserves {
  return reserve0 < 0n || reserve1 < 0n ? UNKNOWN_RESERVES : { reserve0, reserve1 }
}

/** What the vaults hold after `last`, the leg's last call where the instruction has more than one leg. */
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
