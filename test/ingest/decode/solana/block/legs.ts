/** The legs of a recorded transaction beside the instructions they ran in. */
import type { SwapEvent } from '../../../../../services/core/domain/records.js'
import { inOrder, lastOrder } from '../../../../../services/ingest/decode/solana/execution.js'
import type { Instruction, SolanaTransaction } from '../../../../../services/ingest/decode/solana/transaction.js'
import { ownerOf } from '../../../../../services/ingest/decode/solana/vaults.js'
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

/** From the trader's account to another's. */
export function isPaidBy(transaction: SolanaTransaction, { swap }: Leg, mine: string, other: string): boolean {
  const traders = [swap.sender, swap.recipient]
  const holderOf = (account: string) => ownerOf(transaction, account) ?? account
  return traders.includes(holderOf(mine)) && !traders.includes(holderOf(other))
}
