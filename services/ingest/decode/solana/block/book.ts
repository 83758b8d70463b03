/** The decoder's state as of the last decoded block. Every change belongs to a block, so that a reorg can undo it. */
import type { CheckBook, CheckBudget, KnownCheck } from '../../due-checks.js'

/** A token that was published. */
export type KnownToken = {
  /** Null: not known yet. */
  decimals: number | null
  /** Whether it is in a followed pool. */
  traded: boolean
}

/** One owner's balance of one token: the known accounts, by address, and the sum published last (`told`, a stored key). */
export type KnownHolding = { accounts: ReadonlyMap<string, bigint>; told: bigint }

/** `depth`: what the pool held of the token when it was chosen. */
export type KnownRisk = KnownCheck & { depth: bigint }

/** How far all holders of a token are known. */
export type KnownHolders = {
  /** The hash of the block since which every move of it is in the book. */
  begun: string
  /** The slot of the list that is being published, and how many of its owners are; absent: none yet. */
  list?: { slot: number; published: number }
  isDone: boolean
}

export interface Book extends CheckBook<KnownRisk> {
  /** Whether the pool was published. */
  hasPool(pool: string): boolean
  putPool(pool: string, tokens: readonly string[]): void
  /** The tokens of a pool; none for any other address. */
  tokensOf(pool: string): readonly string[]
  /** The tokens of the pool whose shares are of this mint; none for any other. */
  sharesOf(mint: string): readonly string[]
  putShares(mint: string, tokens: readonly string[]): void
  token(mint: string): KnownToken | undefined
  putToken(mint: string, known: KnownToken): void
  holding(mint: string, owner: string): KnownHolding | undefined
  putHolding(mint: string, owner: string, known: KnownHolding): void
  /** Everybody who has or had a known account of it. */
  ownersOf(mint: string): readonly string[]
  /** By token. */
  holders(): ReadonlyMap<string, KnownHolders>
  putHolders(holders: ReadonlyMap<string, KnownHolders>): void
}

/** A book in memory, without undo. */
export function memoryBook(): Book {
  const pools = new Map<string, readonly string[]>()
  const shares = new Map<string, readonly string[]>()
  const risks = new Map<string, KnownRisk>()
  let budget: CheckBudget | undefined
  const tokens = new Map<string, KnownToken>()
  /** By mint, then by owner: saves building a combined key each time. */
  const holdings = new Map<string, Map<string, KnownHolding>>()
  let holders: ReadonlyMap<string, KnownHolders> = new Map()
  return {
    hasPool: (pool) => pools.has(pool),
    putPool: (pool, ofPool) => void pools.set(pool, ofPool),
    tokensOf: (pool) => pools.get(pool) ?? [],
    sharesOf: (mint) => shares.get(mint) ?? [],
    putShares: (mint, ofPool) => void shares.set(mint, ofPool),
    risk: (token) => risks.get(token),
    putRisk: (token, known) => void risks.set(token, known),
    riskBudget: () => budget,
    putRiskBudget(given) {
      budget = given
    },
    token: (mint) => tokens.get(mint),
    putToken: (mint, known) => void tokens.set(mint, known),
    holding: (mint, owner) => holdings.get(mint)?.get(owner),
    putHolding(mint, owner, known) {
      const ofMint = holdings.get(mint)
      if (ofMint === undefined) holdings.set(mint, new Map([[owner, known]]))
      else ofMint.set(owner, known)
    },
    ownersOf: (mint) => [...(holdings.get(mint)?.keys() ?? [])],
    holders: () => holders,
    putHolders(given) {
      holders = given
    },
  }
}
