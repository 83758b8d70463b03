/** What a token account held at a point of the execution, and whose it is: balances before and after, and the transfers between. */

import { WRAPPED_SOL } from '../native-programs.js'
import { type Instruction, inOrder, lastOrder, type SolanaTransaction, type Transfer } from '../transaction.js'

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
 * After the instruction of this order. From both ends: a mint of Token-2022 may withhold a part that plain transfers do not tell, and lamports sent to a
 * wrapped-SOL account count only once it is synchronised. So where the transfers do not lead from the balance before to the one after, only what came
 * before the first such arrival or after the last one is certain.
 */
function balanceAt(transaction: SolanaTransaction, account: string, order: number): bigint | null {
  const pre = balanceAtStart(transaction, account)
  const post = transaction.postTokens.get(account)?.amount ?? null
  let [soFar, later] = [0n, 0n]
  let [arrivedBefore, arrivesLater] = [false, false]
  for (const { transfer, order: at } of inOrder(transaction)) {
    if (transfer === null || transfer.source === transfer.destination) continue
    const isArrival = transfer.destination === account
    if (!isArrival && transfer.source !== account) continue
    if (transfer.mint === null) {
      arrivedBefore = arrivesLater = true
      continue
    }
    const moved = isArrival ? transfer.amount - transfer.fee : -transfer.amount
    if (at <= order) {
      soFar += moved
      arrivedBefore ||= isArrival
    } else {
      later += moved
      arrivesLater ||= isArrival
    }
  }
  const forwards = pre === null ? null : pre + soFar
  const backwards = post === null ? null : post - later
  const isExact = forwards === backwards || backwards === null || !arrivedBefore
  return certain(isExact ? forwards : arrivesLater ? null : backwards)
}

/** Null: an account opened with lamports that are tokens, or one nobody tells of. */
function balanceAtStart({ preTokens, postTokens, openedTokens }: SolanaTransaction, account: string): bigint | null {
  const pre = preTokens.get(account)?.amount
  if (pre !== undefined) return pre
  const { mint } = postTokens.get(account) ?? openedTokens.get(account) ?? {}
  return mint === undefined || mint === WRAPPED_SOL ? null : 0n
}

function certain(balance: bigint | null): bigint | null {
  return balance === null || balance < 0n ? null : balance
}
