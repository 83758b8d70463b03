/** Which tokens are to be checked at a block: by their trades, and by what may have changed their locks. */
import { type CheckRules, chooseChecks, markStale } from '../../due-checks.js'
import type { SolanaTransaction } from '../transaction.js'
import type { Book } from './book.js'
import type { SolanaRules } from './decode-rules.js'
import type { SeenPool } from './venue-events.js'

export type TokenCheck = {
  token: string
  /** The pool with most of it; null: none is known. */
  pool: string | null
}

type Moved = Pick<SolanaTransaction, 'accounts' | 'preTokens' | 'postTokens'>

/** Shares of a known pool moved or were burnt, or a locker was called with a token or a pool. */
export function noteLockChanges(
  { accounts, preTokens, postTokens }: Moved,
  book: Book,
  { isLocker, areLocksFollowed }: SolanaRules,
  changed: Set<string>,
): void {
  if (!areLocksFollowed) return
  const isCalled = accounts.some(isLocker)
  const add = (tokens: readonly string[]) => {
    for (const token of tokens) changed.add(token)
  }
  if (isCalled) for (const account of accounts) add(book.tokensOf(account))
  for (const [account, { mint, amount }] of preTokens) {
    if (isCalled) changed.add(mint)
    else if (postTokens.get(account)?.amount === amount) continue
    add(book.sharesOf(mint))
  }
  for (const [account, { mint }] of postTokens) {
    if (isCalled) changed.add(mint)
    if (!preTokens.has(account)) add(book.sharesOf(mint))
  }
}

type Seen = { pools: ReadonlyMap<string, SeenPool>; changed: ReadonlySet<string> }

/** Called after the block was decoded, while the book is at it. `isLive`: nodes only have the present state. */
export function planChecks(
  timeS: number,
  { pools, changed: named }: Seen,
  book: Book,
  { money }: SolanaRules,
  risk: CheckRules,
  isLive: boolean,
): TokenCheck[] {
  const changed = new Set([...named].filter((token) => !money.has(token) && book.token(token)?.traded === true))
  if (!isLive) {
    for (const token of changed) markStale(token, book)
    return []
  }
  const traded = new Map<string, Depth[]>()
  for (const { pool, token0, token1, reserve0, reserve1 } of pools.values()) {
    for (const [token, reserve] of [
      [token0, reserve0],
      [token1, reserve1],
    ] as const) {
      if (!money.has(token)) traded.set(token, [...(traded.get(token) ?? []), { pool, depth: reserve ?? 0n }])
    }
  }
  return chooseChecks(timeS, changed, traded.keys(), book, risk).map((token) => {
    const chosen = deepest(token, traded.get(token) ?? [], book)
    book.putRisk(token, { checkedAtS: timeS, isStale: false, ...chosen })
    return { token, pool: chosen.pool }
  })
}

type Depth = { pool: string; depth: bigint }

/** Of the pools that trade now, and the one it was checked with before. */
function deepest(token: string, pools: readonly Depth[], book: Book): { pool: string | null; depth: bigint } {
  const before = book.risk(token)
  const isSeen = pools.some(({ pool }) => pool === before?.pool)
  const first = before === undefined || isSeen ? NONE : { pool: before.pool, depth: before.depth }
  return pools.reduce<{ pool: string | null; depth: bigint }>(
    (best, one) => (best.pool === null || one.depth > best.depth ? one : best),
    first,
  )
}

const NONE = { pool: null, depth: 0n }
