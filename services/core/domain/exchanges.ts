/** What identifies the exchanges of a chain: contracts on EVM chains, programs on Solana. */

/** A contract that identifies an exchange: a pool is real if a known factory created it. */
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

export type SolanaProgram = {
  /** The name in the documentation. */
  name: string
  programId: string
  amm: string
}

/** The programs whose trades ingest decodes, and their exchange names in the API. */
export const SOLANA_PROGRAMS: readonly SolanaProgram[] = [
  { name: 'pump', amm: 'pump', programId: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P' },
  { name: 'pump-amm', amm: 'pumpamm', programId: 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA' },
  { name: 'raydium-v4', amm: 'raydium', programId: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8' },
  { name: 'raydium-cpmm', amm: 'raydiumcpmm', programId: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C' },
  { name: 'raydium-clmm', amm: 'raydiumclmm', programId: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK' },
  { name: 'launchlab', amm: 'launchlab', programId: 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj' },
  { name: 'whirlpool', amm: 'orca', programId: 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc' },
  { name: 'meteora-dlmm', amm: 'meteora', programId: 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo' },
  { name: 'meteora-damm-v1', amm: 'meteoradamm', programId: 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB' },
  { name: 'meteora-damm-v2', amm: 'meteoradammv2', programId: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG' },
  { name: 'meteora-dbc', amm: 'meteoradbc', programId: 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN' },
  { name: 'moonshot', amm: 'moonshot', programId: 'MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG' },
]

export const SOLANA_AMMS: readonly string[] = SOLANA_PROGRAMS.map(({ amm }) => amm).sort()
