/** The legs of a transaction beside the instructions they ran in. */
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

/** `paidFrom`, `paidTo`: the trader's token accounts, where the leg moved tokens and not lamports. */
export type Leg = { swap: SwapEvent; instruction: Instruction; paidFrom?: string; paidTo?: string }

export function legsOf({ value, slot }: RealTransaction, transaction: SolanaTransaction): Leg[] {
  const run = inOrder(transaction)
  return decoded(value, slot).events.flatMap((swap) => {
    const instruction = run[swap.log_index]
    return swap.type === 'swap' && instruction !== undefined ? [{ swap, instruction }] : []
  })
}

/** The one that ran the call of this order. */
export function legAt(legs: readonly Leg[], order: number): Leg | undefined {
  return legs.find(({ instruction }) => order > instruction.order && order <= lastOrder(instruction))
}

/** From the trader's account to the other side of the leg. */
export function isPaidBy(transaction: SolanaTransaction, { swap }: Leg, mine: string, other: string): boolean {
  const traders = [swap.sender, swap.recipient]
  const holderOf = (account: string) => ownerOf(transaction, account) ?? account
  if (!traders.includes(holderOf(mine))) return false
  return isPoolsOwn(swap) ? holderOf(other) === swap.pool : !traders.includes(holderOf(other))
}

/** Its amounts are the pool's: the trader pays fees besides, or out of what the pool gives. */
function isPoolsOwn({ amm }: SwapEvent): boolean {
  return amm === 'pumpamm'
}

/** Of a token that withholds a part of each transfer: the amount out is without that part. */
export function reportsArrivedAmounts({ swap }: Leg): boolean {
  return !isPoolsOwn(swap)
}

/** A fee that leaves the pool on the trader's account. */
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
