/** Balances are conserved: what a wallet holds after a transaction is what it held before plus its legs and transfers. */
import { describe, expect, it } from 'vitest'
import { ownerOf } from '../../../../../services/ingest/decode/solana/instruction/vaults.js'
import { WRAPPED_SOL } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { inOrder, type SolanaTransaction } from '../../../../../services/ingest/decode/solana/transaction.js'
import { everyTransaction, parsed, transactionCases } from '../real-transactions.js'
import { isFeeOut, isPaidBy, type Leg, legAt, legsOf, reportsArrivedAmounts } from './legs.js'

/** By holder and mint. */
class Sums {
  private readonly sums = new Map<string, bigint>()

  add(holder: string, mint: string, amount: bigint): void {
    const at = `${holder} ${mint}`
    this.sums.set(at, (this.sums.get(at) ?? 0n) + amount)
  }

  moved(): string[] {
    return [...this.sums].flatMap(([at, sum]) => (sum === 0n ? [] : [`${at} ${sum}`])).sort()
  }
}

/** Wrapped SOL accounts change with lamports when opened, synchronised or closed, so they are checked in lamports. */
function isMadeOfLamports(transaction: SolanaTransaction, account: string): boolean {
  const { preTokens, postTokens, openedTokens } = transaction
  const { mint } = postTokens.get(account) ?? preTokens.get(account) ?? openedTokens.get(account) ?? {}
  if (mint !== WRAPPED_SOL) return false
  if (!preTokens.has(account) || !postTokens.has(account)) return true
  return inOrder(transaction).some(({ transfer }) => transfer?.mint === null && transfer.destination === account)
}

function changeOf(transaction: SolanaTransaction): string[] {
  const sums = new Sums()
  const { preTokens, postTokens } = transaction
  for (const [tokens, sign] of [
    [preTokens, -1n],
    [postTokens, 1n],
  ] as const)
    for (const [account, { owner, mint, amount }] of tokens)
      if (owner !== null && !isMadeOfLamports(transaction, account)) sums.add(owner, mint, sign * amount)
  return sums.moved()
}

/** All transfers, but a trader's side of a leg counts with the amounts of its event. */
function movementOf(transaction: SolanaTransaction, legs: readonly Leg[]): string[] {
  const sums = new Sums()
  const feesOut = new Map<Leg, bigint>()
  for (const { transfer, order } of inOrder(transaction)) {
    if (transfer === null || transfer.mint === null) continue
    const { mint, source, destination, amount, fee } = transfer
    const leg = legAt(legs, order)
    const isIn = leg !== undefined && mint === leg.swap.token_in && isPaidBy(transaction, leg, source, destination)
    const isOut = leg !== undefined && mint === leg.swap.token_out && isPaidBy(transaction, leg, destination, source)
    if (isIn) leg.paidFrom = source
    else add(source, mint, -amount)
    if (isOut) leg.paidTo = destination
    else add(destination, mint, amount)
    if (!isOut || !reportsArrivedAmounts(leg)) add(destination, mint, -fee)
    if (leg !== undefined && isFeeOut(transaction, leg, transfer)) feesOut.set(leg, (feesOut.get(leg) ?? 0n) + amount)
  }
  for (const leg of legs) {
    const { swap, paidFrom, paidTo } = leg
    if (paidFrom !== undefined) add(paidFrom, swap.token_in, -BigInt(swap.amount_in))
    if (paidTo !== undefined) add(paidTo, swap.token_out, BigInt(swap.amount_out) - (feesOut.get(leg) ?? 0n))
  }
  return sums.moved()

  function add(account: string, mint: string, amount: bigint): void {
    const owner = ownerOf(transaction, account)
    if (owner !== null && !isMadeOfLamports(transaction, account)) sums.add(owner, mint, amount)
  }
}

describe('every transaction', () => {
  it.each(transactionCases('token balances'))('$name: legs and transfers sum to the change of balances', (real) => {
    const transaction = parsed(real)
    expect(movementOf(transaction, legsOf(real, transaction))).toEqual(changeOf(transaction))
  })

  it.each(transactionCases('lamports of curves'))('$name: a curve has the lamports its legs imply', (real) => {
    const transaction = parsed(real)
    const legs = legsOf(real, transaction).filter(({ swap }) => swap.amm === 'pump')
    for (const curve of new Set(legs.map(({ swap }) => swap.pool))) {
      let sum = 0n
      for (const { swap } of legs.filter(({ swap }) => swap.pool === curve))
        sum += swap.token_in === WRAPPED_SOL ? BigInt(swap.amount_in) : -BigInt(swap.amount_out)
      for (const { transfer, order } of inOrder(transaction)) {
        if (transfer?.mint === null && transfer.destination === curve && legAt(legs, order) === undefined)
          sum += transfer.amount
      }
      const at = transaction.accounts.indexOf(curve)
      expect(sum).toBe((transaction.postLamports[at] ?? 0n) - (transaction.preLamports[at] ?? 0n))
    }
  })

  it('includes legs of every exchange', () => {
    const amms = everyTransaction().flatMap((real) => legsOf(real, parsed(real)).map(({ swap }) => swap.amm))
    expect([...new Set(amms)].sort()).toEqual([
      ...['launchlab', 'meteora', 'meteoradamm', 'meteoradammv2', 'meteoradbc', 'moonshot', 'orca', 'pump', 'pumpamm'],
      ...['raydium', 'raydiumclmm', 'raydiumcpmm'],
    ])
  })
})
