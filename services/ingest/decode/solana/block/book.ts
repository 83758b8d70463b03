/** The decoder's state as of the last decoded block. Every change belongs to a block, so that a reorg can undo it. */

/** A token that was published. */
export type KnownToken = {
  /** Null: not known yet. */
  decimals: number | null
  /** Whether it is in a followed pool. */
  traded: boolean
}

/** One owner's balance of one token: the known accounts, by address, and the sum published last (`told`, a stored key). */
export type KnownHolding = { accounts: ReadonlyMap<string, bigint>; told: bigint }

export interface Book {
  /** Whether the pool was published. */
  hasPool(pool: string): boolean
  putPool(pool: string): void
  token(mint: string): KnownToken | undefined
  putToken(mint: string, known: KnownToken): void
  holding(mint: string, owner: string): KnownHolding | undefined
  putHolding(mint: string, owner: string, known: KnownHolding): void
}

/** A book in memory, without undo. */
export function memoryBook(): Book {
  const pools = new Set<string>()
  const tokens = new Map<string, KnownToken>()
  /** By mint, then by owner: saves building a combined key each time. */
  const holdings = new Map<string, Map<string, KnownHolding>>()
  return {
    hasPool: (pool) => pools.has(pool),
    putPool: (pool) => void pools.add(pool),
    token: (mint) => tokens.get(mint),
    putToken: (mint, known) => void tokens.set(mint, known),
    holding: (mint, owner) => holdings.get(mint)?.get(owner),
    putHolding(mint, owner, known) {
      const ofMint = holdings.get(mint)
      if (ofMint === undefined) holdings.set(mint, new Map([[owner, known]]))
      else ofMint.set(owner, known)
    },
  }
}
