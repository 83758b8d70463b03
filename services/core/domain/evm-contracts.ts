/** The contracts that make a chain's exchanges known: a factory's word is what tells a real pool from a contract that only says so. */

export type KnownContract = {
  /** Lower case. */
  address: string
  /** Whose logs describe new pools: a factory's, or a singleton's that holds the pools as well. */
  protocol: string
  /** The exchange's name, as clients see it. */
  amm: string
  /** Hundredths of a basis point, where all its pools have the same. */
  fee?: number
  /** Other contracts of the same exchange a decoder must ask, by role (`positions`, `helper` …). */
  others?: Readonly<Record<string, string>>
}
