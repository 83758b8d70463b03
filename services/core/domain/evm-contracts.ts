/** Contracts that identify a chain's exchanges: a pool is real if a known factory created it. */

export type KnownContract = {
  /** Lower case. */
  address: string
  /** Its logs announce new pools: a factory, or a singleton that also holds the pools. */
  protocol: string
  /** The exchange's name in the API. */
  amm: string
  /** Hundredths of a basis point, where all its pools have the same fee. */
  fee?: number
  /** Other contracts of the same exchange a decoder needs, by role (`positions`, `helper` …). */
  others?: Readonly<Record<string, string>>
}
