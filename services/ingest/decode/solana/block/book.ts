/** What is known of the chain as of the last block decoded. Every change belongs to a block, so that a slot that dies can be taken back. */

/** A token the log has heard of. */
export type KnownToken = {
  /** Null: nothing told them yet. */
  decimals: number | null
  /** Stands in a pool that is followed. */
  traded: boolean
}

/** What one owner holds of one token: the accounts seen so far, by address, and the sum the log was told last. */
export type KnownHolding = { accounts: ReadonlyMap<string, bigint>; told: bigint }

export interface Book {
  /** Whether the log has heard of the pool. */
  hasPool(pool: string): boolean
  putPool(pool: string): void
  token(mint: string): KnownToken | undefined
  putToken(mint: string, known: KnownToken): void
  holding(mint: string, owner: string): KnownHolding | undefined
  putHolding(mint: string, owner: string, known: KnownHolding): void
}

/** A book for a single reading, without a way back. */
export function memoryBook(): Book {
  const pools = new Set<string>()
  const tokens = new Map<string, KnownToken>()
  /** By mint, then by owner: a key of both would have to be made each time. */
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
