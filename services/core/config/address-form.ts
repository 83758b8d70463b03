/** What an address looks like, by family; `form` is how a problem with one says it. */
import type { ChainFamily } from '../domain/chains.js'

export const ADDRESS_FORM: Record<ChainFamily, { pattern: RegExp; form: string }> = {
  evm: { pattern: /^0x[0-9a-fA-F]{40}$/, form: 'an address (0x and 40 hexadecimal digits)' },
  solana: { pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, form: 'an address (32 to 44 base58 characters)' },
}
