/** What a token account held at a point of the execution, and whose it is: balances before and after, and the transfers between. */
import { inOrder, lastOrder } from './execution.js'
import type { Instruction, SolanaTransaction, Transfer } from './transaction.js'

/** Right after the instruction and everything it called; null: not known. */
export function balanceAfter(transaction: SolanaTransaction, account: string, instruction: Instruction): bigint | null {
  return balanceAt(transaction, account, lastOrder(instruction))
}

/** Right before the instruction; null: not known. */
export function balanceBefore(
  transaction: SolanaTransaction,
  account: string,
  instruction: Instruction,
): bigint | null {
  return balanceAt(transaction, account, instruction.order - 1)
}

/** Null: no transfer nor balance tells. */
export function ownerOf({ postTokens, preTokens, openedTokens }: SolanaTransaction, account: string): string | null {
  return postTokens.get(account)?.owner ?? openedTokens.get(account)?.owner ?? preTokens.get(account)?.owner ?? null
}

export function mintOf({ postTokens, preTokens, openedTokens }: SolanaTransaction, account: string): string | null {
  return (postTokens.get(account) ?? openedTokens.get(account) ?? preTokens.get(account))?.mint ?? null
}

/** The transfers of tokens that the instruction or what it called made, in order. */
export function transfersIn(instruction: Instruction): Transfer[] {
  const transfers: Transfer[] = []
  collect(instruction, transfers)
  return transfers
}

/** What of these transfers reached the account less what left it; as sent, Token-2022's withheld part included. */
export function netInto(transfers: readonly Transfer[], account: string): bigint {
  let net = 0n
  for (const { source, destination, amount } of transfers) {
    if (destination === account) net += amount
    if (source === account) net -= amount
  }
  return net
}

function collect({ transfer, inner }: Instruction, transfers: Transfer[]): void {
  if (transfer !== null && transfer.mint !== null) transfers.push(transfer)
  for (const called of inner) collect(called, transfers)
}

/**
 * After the instruction of this order. From both ends: a mint of Token-2022 may withhold a part that plain transfers do not tell, so where the transfers do
 * not lead from the balance before to the one after, what came before the first arrival or after the last one is still certain.
 */
function balanceAt(transaction: SolanaTransaction, account: string, order: number): bigint | null {
  const { preTokens, postTokens, openedTokens } = transaction
  const isOpened = openedTokens.has(account)
  const pre = preTokens.get(account)?.amount ?? (isOpened || postTokens.has(account) ? 0n : null)
  if (pre === null) return null
  const post = postTokens.get(account)?.amount ?? null
  let [soFar, later] = [0n, 0n]
  let [arrivedBefore, arrivesLater] = [false, false]
  for (const { transfer, order: at } of inOrder(transaction)) {
    if (transfer === null || transfer.mint === null) continue
    const { source, destination, amount, fee } = transfer
    if (source === destination) continue
    const isArrival = destination === account
    if (!isArrival && source !== account) continue
    const moved = isArrival ? amount - fee : -amount
    if (at <= order) {
      soFar += moved
      arrivedBefore ||= isArrival
    } else {
      later += moved
      arrivesLater ||= isArrival
    }
  }
  const forwards = pre + soFar
  // A closed account has no balance after; what it held is told by the transfers alone.
  if (post === null) return forwards < 0n ? null : forwards
  if (forwards + later === post) return forwards < 0n ? null : forwards
  if (!arrivedBefore) return forwards < 0n ? null : forwards
  const backwards = post - later
  return arrivesLater || backwards < 0n ? null : backwards
}
