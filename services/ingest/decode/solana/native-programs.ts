/** Addresses of the cluster's own programs (docs.anza.xyz, "Native programs"; spl.solana.com). They never change. */
export const SYSTEM = '11111111111111111111111111111111'
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const VOTE = 'Vote111111111111111111111111111111111111111'
/** Wrapped SOL. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
/** The same in Token-2022. */
export const WRAPPED_SOL_2022 = '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP'

/** Whether its instructions move tokens or lamports. */
export function isNativeMover(programId: string): boolean {
  return programId === TOKEN || programId === SYSTEM || programId === TOKEN_2022
}
