/** A token account's owner, and its balance at a point of the execution, from the balances before and after and the transfers. */

import { WRAPPED_SOL } from '../native-programs.js'
import { type Instruction, inOrder, lastOrder, type SolanaTransaction, type Transfer } from '../transaction.js'

/** Right after the instruction and its inner instructions; null: unknown. */
export function balanceAfter(transaction: SolanaTransaction, account: string, instruction: Instruction): bigint | null {
  return balanceAt(transaction, account, lastOrder(instruction))
}

/** Right before the instruction; null: unknown. */
export function balanceBefore(
  transaction: SolanaTransaction,
  account: string,
  instruction: Instruction,
): bigint | null {
  return balanceAt(transaction, account, instruction.order - 1)
}

/** Null: unknown. */
export function ownerOf({ postTokens, preTokens, openedTokens }: SolanaTransaction, account: string): string | null {
  return postTokens.get(account)?.owner ?? openedTokens.get(account)?.owner ?? preTokens.get(account)?.owner ?? null
}

export function mintOf({ postTokens, preTokens, openedTokens }: SolanaTransaction, account: string): string | null {
  return (postTokens.get(account) ?? openedTokens.get(account) ?? preTokens.get(account))?.mint ?? null
}

/** Token transfers of the instruction and its inner instructions, in order. */
export function transfersIn(instruction: Instruction): Transfer[] {
  const transfers: Transfer[] = []
  collect(instruction, transfers)
  return transfers
}

/** Received minus sent by the account in these transfers; as sent, including what Token-2022 withholds. */
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
 * After the instruction with this order. Computed from both ends: a Token-2022 mint may withhold a part that plain transfers do not
 * state, and lamports sent to a wrapped-SOL account only count once it is synchronised. So if the transfers do not lead from the
 * balance before to the one after, only balances before the first such arrival or after the last are certain.
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

/** Null: an account opened with lamports that count as tokens, or an unknown account. */
function balanceAtStart({ preTokens, postTokens, openedTokens }: SolanaTransaction, account: string): bigint | null {
  const pre = preTokens.get(account)?.amount
  if (pre !== undefined) return pre
  const { mint } = postTokens.get(account) ?? openedTokens.get(account) ?? {}
  return mint === undefined || mint === WRAPPED_SOL ? null : 0n
}

function certain(balance: bigint | null): bigint | null {
  return balance === null || balance < 0n ? null : balance
}
