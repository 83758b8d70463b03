/** A wallet's SOL is the lamports of its account and all its token accounts, because SOL may be wrapped or held as rent. */
import { describe, expect, it } from 'vitest'
import { ownerOf } from '../../../../../services/ingest/decode/solana/instruction/vaults.js'
import { WRAPPED_SOL } from '../../../../../services/ingest/decode/solana/native-programs.js'
import {
  inOrder,
  type SolanaTransaction,
  type Transfer,
} from '../../../../../services/ingest/decode/solana/transaction.js'
import { everyTransaction, parsed, type RealTransaction, transactionCases } from '../real-transactions.js'
import { isFeeOut, isPaidBy, type Leg, legAt, legsOf } from './legs.js'

const changeAt = ({ preLamports, postLamports }: SolanaTransaction, place: number): bigint =>
  (postLamports[place] ?? 0n) - (preLamports[place] ?? 0n)

/** The program pays these from its own account without a transfer, so nothing else reports them. */
function isPaidWithout(leg: Leg): boolean {
  return ['pump', 'moonshot'].includes(leg.swap.amm) && leg.swap.token_out === WRAPPED_SOL
}

class Wallet {
  constructor(
    readonly address: string,
    private readonly transaction: SolanaTransaction,
    private readonly legs: readonly Leg[],
    private readonly fee: bigint,
  ) {}

  has(account: string): boolean {
    return account === this.address || ownerOf(this.transaction, account) === this.address
  }

  change(): bigint {
    return this.transaction.accounts.reduce(
      (sum, account, place) => (this.has(account) ? sum + changeAt(this.transaction, place) : sum),
      0n,
    )
  }

  /** The amounts of its legs, plus transfers outside of them. */
  moved(): bigint {
    const counted = new Set<Leg>()
    let sum = 0n
    for (const { transfer, order } of inOrder(this.transaction)) {
      if (transfer === null || (transfer.mint !== null && transfer.mint !== WRAPPED_SOL)) continue
      const reported = this.readEventOf(legAt(this.legs, order), transfer)
      if (reported === null) {
        if (this.has(transfer.source)) sum -= transfer.amount
        if (this.has(transfer.destination)) sum += transfer.amount
      } else if (!counted.has(reported.leg)) {
        counted.add(reported.leg)
        sum += reported.amount
      }
    }
    for (const leg of this.legs)
      if (isPaidWithout(leg) && leg.swap.recipient === this.address)
        sum += BigInt(leg.swap.amount_out) - this.feesBeside(leg)
    return sum
  }

  private readEventOf(
    leg: Leg | undefined,
    { mint, source, destination }: Transfer,
  ): { leg: Leg; amount: bigint } | null {
    if (leg === undefined) return null
    const { swap, instruction } = leg
    // Lamports sent to others are rent.
    const isOfPool = (account: string) =>
      mint === null ? account === swap.pool : instruction.accounts.includes(account)
    if (swap.token_in === WRAPPED_SOL && this.has(source) && isOfPool(destination))
      return isPaidBy(this.transaction, leg, source, destination) ? { leg, amount: -BigInt(swap.amount_in) } : null
    if (swap.token_out === WRAPPED_SOL && this.has(destination) && isOfPool(source))
      return isPaidBy(this.transaction, leg, destination, source)
        ? { leg, amount: BigInt(swap.amount_out) - this.feesOut(leg) }
        : null
    return null
  }

  /** What the pool paid to others out of the leg's amount. */
  private feesOut(leg: Leg): bigint {
    return inOrder(this.transaction).reduce((sum, { transfer, order }) => {
      const isFee = transfer !== null && legAt(this.legs, order) === leg && isFeeOut(this.transaction, leg, transfer)
      return isFee ? sum + transfer.amount : sum
    }, 0n)
  }

  /** What everyone except the wallet and the curve gained, without the transaction’s fee. */
  private feesBeside({ swap }: Leg): bigint {
    const { accounts, feePayer } = this.transaction
    const sent = inOrder(this.transaction).flatMap(({ transfer }) => (transfer?.mint === null ? [transfer] : []))
    return accounts.reduce((sum, account, place) => {
      if (this.has(account) || account === swap.pool) return sum
      const bySystem = sent.reduce((all, { destination, amount }) => all + (destination === account ? amount : 0n), 0n)
      const paid = account === feePayer ? this.fee : 0n
      return sum + changeAt(this.transaction, place) + paid - bySystem
    }, 0n)
  }
}

const feeOf = ({ value }: RealTransaction): bigint => BigInt((value.meta as { fee: number | string }).fee)

describe('every transaction', () => {
  it.each(transactionCases('SOL of signers'))(
    '$name: legs, transfers and the fee sum to the change of each signer’s SOL',
    (real) => {
      const transaction = parsed(real)
      for (const signer of transaction.signers) {
        const wallet = new Wallet(signer, transaction, legsOf(real, transaction), feeOf(real))
        const fee = signer === transaction.feePayer ? feeOf(real) : 0n
        expect(wallet.moved() - fee, signer).toBe(wallet.change())
      }
    },
  )

  it('most have a leg in SOL traded by a signer', () => {
    const every = everyTransaction()
    const ofSol = every.filter((real) => {
      const transaction = parsed(real)
      return legsOf(real, transaction).some(
        ({ swap }) =>
          [swap.token_in, swap.token_out].includes(WRAPPED_SOL) &&
          [swap.sender, swap.recipient].some((trader) => transaction.signers.includes(trader)),
      )
    })
    expect(ofSol.length).toBeGreaterThan(every.length / 2)
  })
})
