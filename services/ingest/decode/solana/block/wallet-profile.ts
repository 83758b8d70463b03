/**
 * A swap's `profile`: what its wallet held after the transaction, in whole tokens and whole SOL (API clients call a wallet with more than 50
 * of these big), and which token accounts the transaction opened, emptied or closed. Wrapped SOL counts as a token, not as SOL.
 */
import { powerOfTen } from '../../../../core/domain/money.js'
import type { Profile } from '../../../../core/domain/records.js'
import type { SolanaTransaction, TokenBalance } from '../transaction.js'

const LAMPORT_DECIMALS = 9

type Held = { accounts: number; amount: bigint }

type Token = { mint: string; decimals: number }

/** Null: the transaction does not include the wallet's lamports. */
export function profileOf(
  transaction: SolanaTransaction,
  wallet: string,
  { mint: token0, decimals: decimals0 }: Token,
  { mint: token1, decimals: decimals1 }: Token,
): Profile | null {
  const lamports = transaction.postLamports[transaction.accounts.indexOf(wallet)]
  if (lamports === undefined) return null
  const { preTokens, postTokens } = transaction
  const [pre0, post0] = [heldOf(preTokens, wallet, token0), heldOf(postTokens, wallet, token0)]
  const [pre1, post1] = [heldOf(preTokens, wallet, token1), heldOf(postTokens, wallet, token1)]
  return {
    token0TotalHolding: whole(post0.amount, decimals0),
    token1TotalHolding: whole(post1.amount, decimals1),
    token0Address: token0,
    token1Address: token1,
    solTotalHolding: whole(lamports, LAMPORT_DECIMALS),
    token0HasNewAccount: post0.accounts > pre0.accounts,
    token0HasClosedAccount: post0.accounts < pre0.accounts,
    token0HasClearedAccount: pre0.amount > 0n && post0.amount === 0n,
    token1HasNewAccount: post1.accounts > pre1.accounts,
    token1HasClosedAccount: post1.accounts < pre1.accounts,
    token1HasClearedAccount: pre1.amount > 0n && post1.amount === 0n,
  }
}

function heldOf(tokens: ReadonlyMap<string, TokenBalance>, owner: string, mint: string): Held {
  const held = { accounts: 0, amount: 0n }
  for (const balance of tokens.values()) {
    if (balance.owner !== owner || balance.mint !== mint) continue
    held.accounts += 1
    held.amount += balance.amount
  }
  return held
}

function whole(amount: bigint, decimals: number): number {
  return Number(amount) / powerOfTen(decimals)
}
