/** The legs of a transaction, each with the instruction that executed it. */
import type { SwapEvent } from '../../../../../services/core/domain/records.js'
import { ownerOf } from '../../../../../services/ingest/decode/solana/instruction/vaults.js'
import {
  type Instruction,
  inOrder,
  lastOrder,
  type SolanaTransaction,
  type Transfer,
} from '../../../../../services/ingest/decode/solana/transaction.js'
import type { RealTransaction } from '../real-transactions.js'
import { decoded } from './decoded.js'

/** `paidFrom`, `paidTo`: the trader's token accounts, if the leg moved tokens rather than lamports. */
export type Leg = { swap: SwapEvent; instruction: Instruction; paidFrom?: string; paidTo?: string }

export function legsOf({ value, slot }: RealTransaction, transaction: SolanaTransaction): Leg[] {
  const run = inOrder(transaction)
  return decoded(value, slot).events.flatMap((swap) => {
    const instruction = run[swap.log_index]
    return swap.type === 'swap' && instruction !== undefined ? [{ swap, instruction }] : []
  })
}

/** The leg whose instruction made the call of this order. */
export function legAt(legs: readonly Leg[], order: number): Leg | undefined {
  return legs.find(({ instruction }) => order > instruction.order && order <= lastOrder(instruction))
}

/** Whether `mine` is the trader's account and `other` is the other side of the leg. */
export function isPaidBy(transaction: SolanaTransaction, { swap }: Leg, mine: string, other: string): boolean {
  const traders = [swap.sender, swap.recipient]
  const holderOf = (account: string) => ownerOf(transaction, account) ?? account
  if (!traders.includes(holderOf(mine))) return false
  return isPoolsOwn(swap) ? holderOf(other) === swap.pool : !traders.includes(holderOf(other))
}

/** Its amounts are the pool's: the trader pays fees on top, or out of the pool's output. */
function isPoolsOwn({ amm }: SwapEvent): boolean {
  return amm === 'pumpamm'
}

/** For tokens with a transfer fee: whether the amount out excludes the withheld part. */
export function reportsArrivedAmounts({ swap }: Leg): boolean {
  return !isPoolsOwn(swap)
}

/** A fee that the pool pays out of the trader's proceeds. */
export function isFeeOut(
  transaction: SolanaTransaction,
  { swap }: Leg,
  { mint, source, destination }: Transfer,
): boolean {
  const [from, to] = [ownerOf(transaction, source), ownerOf(transaction, destination) ?? '']
  return (
    isPoolsOwn(swap) && mint === swap.token_out && from === swap.pool && ![swap.sender, swap.recipient].includes(to)
  )
}
