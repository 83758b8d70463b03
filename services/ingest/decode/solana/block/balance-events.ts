/** Balances after the transaction: absolute, summed over a holder's known token accounts. SOL is lamports plus wrapped SOL. */
import { followsBalances, type Scope } from '../../scope.js'
import { WRAPPED_SOL } from '../native-programs.js'
import type { SolanaTransaction } from '../transaction.js'
import type { Book } from './book.js'
import { areBalancesWanted, type SolanaRules } from './decode-rules.js'
import type { EventList } from './venue-events.js'

export type Balanced = Pick<
  SolanaTransaction,
  'accounts' | 'preLamports' | 'postLamports' | 'preTokens' | 'postTokens' | 'index' | 'signature'
>

/** JSON numbers above this are not exact, so neither are balances computed from them. */
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** Filled in as events are added. */
const PLACE = { tx_index: 0, log_index: 0, sub: 0, tx_hash: '' }

/** Accounts that moved in a block, of the tokens whose holders are all to be known. */
export class MovedAccounts {
  private readonly byToken = new Map<string, Set<string>>()

  constructor(private readonly scope: Pick<Scope, 'holders'>) {}

  add(mint: string, account: string): void {
    if (this.scope.holders?.has(mint) !== true) return
    const known = this.byToken.get(mint)
    if (known === undefined) this.byToken.set(mint, new Set([account]))
    else known.add(account)
  }

  of(mint: string): ReadonlySet<string> {
    return this.byToken.get(mint) ?? NONE
  }
}

const NONE: ReadonlySet<string> = new Set()

type Move = { mint: string; owner: string; account: string; amount: bigint }

export function addBalances(
  transaction: Balanced,
  order: number,
  { events, book, rules, moved }: { events: EventList; book: Book; rules: SolanaRules; moved: MovedAccounts },
): void {
  if (!followsBalances(rules.scope)) return
  const touched = new Map<string, Move>()
  for (const move of movesOf(transaction, rules, book)) {
    const { mint, owner, account, amount } = move
    moved.add(mint, account)
    const known = book.holding(mint, owner)
    if (known?.accounts.get(account) === amount) continue
    const accounts = new Map(known?.accounts)
    // Empty and closed accounts add nothing, and many are opened for a single trade.
    if (amount === 0n) accounts.delete(account)
    else accounts.set(account, amount)
    book.putHolding(mint, owner, { accounts, told: known?.told ?? -1n })
    touched.set(`${mint}/${owner}`, move)
  }
  for (const { mint, owner } of touched.values()) writeBalance(mint, owner)

  function writeBalance(mint: string, owner: string): void {
    const known = book.holding(mint, owner)
    if (known === undefined) return
    let balance = 0n
    for (const amount of known.accounts.values()) balance += amount
    if (balance === known.told) return
    book.putHolding(mint, owner, { ...known, told: balance })
    if (book.token(mint) === undefined) {
      const decimals = mint === WRAPPED_SOL ? 9 : decimalsIn(transaction, mint)
      book.putToken(mint, { decimals, traded: false })
      const facts = { name: null, symbol: null, decimals, total_supply: null }
      events.add(transaction, order, { type: 'token', ...PLACE, token: mint, ...facts })
    }
    events.add(transaction, order, {
      type: 'balance',
      tx_index: 0,
      log_index: 0,
      sub: 0,
      tx_hash: '',
      token: mint,
      holder: owner,
      delta: null,
      balance: balance.toString(),
    })
  }
}

function movesOf(transaction: Balanced, rules: SolanaRules, book: Book): Move[] {
  const { preTokens, postTokens, accounts, preLamports, postLamports } = transaction
  const moves: Move[] = []
  const isWanted = (mint: string) => areBalancesWanted(rules, mint, book.token(mint)?.traded === true)
  for (const [account, before] of preTokens) {
    const after = postTokens.get(account)
    // Closed, or transferred to another owner.
    if (before.owner !== null && after?.owner !== before.owner && isWanted(before.mint))
      moves.push({ mint: before.mint, owner: before.owner, account, amount: 0n })
  }
  for (const [account, { mint, owner, amount }] of postTokens)
    if (owner !== null && isWanted(mint)) moves.push({ mint, owner, account, amount })
  if (!isWanted(WRAPPED_SOL)) return moves
  for (let at = 0; at < accounts.length; at += 1) {
    const [account, lamports] = [accounts[at], postLamports[at]]
    // A token account's lamports are its rent, or already counted as tokens.
    if (account === undefined || lamports === undefined || postTokens.has(account) || preTokens.has(account)) continue
    if (lamports !== preLamports[at] && lamports <= EXACT_MAX)
      moves.push({ mint: WRAPPED_SOL, owner: account, account, amount: lamports })
  }
  return moves
}

function decimalsIn({ preTokens, postTokens }: Balanced, mint: string): number | null {
  for (const tokens of [postTokens, preTokens])
    for (const balance of tokens.values()) if (balance.mint === mint) return balance.decimals
  return null
}
