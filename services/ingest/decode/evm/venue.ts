/**
 * A venue is what holds tokens and trades them: a pool's contract, or a pool inside a singleton (a vault, a pool manager).
 * Two tokens make one pair; more make one pair for each two of them.
 */

export type Venue = {
  /** The pool's address, a singleton's pool id (0x and 64 digits), or `<token>_fo` for a bonding curve. */
  id: string
  /** A protocol's name in `protocols.ts`. */
  protocol: string
  /** The exchange's name, as clients see it. */
  amm: string
  /** In the chain's own order; the native coin stands as its wrapped token where the chain has one. */
  tokens: readonly string[]
  /** Hundredths of a basis point; null: not one number. */
  fee: number | null
  creator: string | null
  /** What the protocol alone must know: tick spacing, a vault's address … */
  facts?: Readonly<Record<string, string | number | boolean>>
}

/**
 * What is followed from log to log. A value: a protocol answers with a new one and never changes the one it was given, because a
 * reorg goes back to it. It survives `structuredClone` (bigints and Maps are fine, functions are not). A large one has Maps of Maps: the
 * inner ones are kept one by one, and one that did not change should stay the same object.
 */
export type VenueState = {
  /** Raw, by token; null: not known. */
  reserves: readonly bigint[] | null
}

/** The pair of two of a venue's tokens, by their places. */
export function pairId({ id, tokens }: Pick<Venue, 'id' | 'tokens'>, first: number, second: number): string {
  return tokens.length === 2 ? id : `${id}_${Math.min(first, second)}_${Math.max(first, second)}`
}
