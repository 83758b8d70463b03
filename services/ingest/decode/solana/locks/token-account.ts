/** Token accounts (docs.rs, `spl_token_interface::state::Account`) and where a wallet's account of a mint is by convention. */
import { derivedAddress, keyBytes } from '../keys/derived-address.js'
import { TOKEN, TOKEN_2022 } from '../native-programs.js'
import { orNull } from '../token/metadata.js'
import { ByteReader } from '../wire/byte-reader.js'
import type { Account } from './state-rounds.js'

export type TokenAccount = { mint: string; owner: string; amount: bigint }

/** Null: not a token account. */
export function readTokenAccount({ owner: program, data }: Account): TokenAccount | null {
  if (program !== TOKEN && program !== TOKEN_2022) return null
  return orNull(() => {
    const reader = new ByteReader(data)
    return { mint: reader.pubkey(), owner: reader.pubkey(), amount: reader.u64() }
  })
}

/** The size without extensions, and of what is read above. */
export const TOKEN_ACCOUNT_BYTES = 165
export const HELD_BYTES = 72
const ACCOUNT_KIND = 2
const TRANSFER_FEE_AMOUNT = 2

/** Fees of Token-2022 that wait in an account: in the supply, but nobody's balance (docs.rs, `spl_token_2022_interface::extension`). */
export function readWithheld(data: Uint8Array): bigint {
  const withheld = orNull(() => {
    const reader = new ByteReader(data, TOKEN_ACCOUNT_BYTES)
    if (reader.left <= 0 || reader.u8() !== ACCOUNT_KIND) return 0n
    while (reader.left >= 4) {
      const [kind, length] = [reader.u16(), reader.u16()]
      if (kind === 0) break
      if (kind === TRANSFER_FEE_AMOUNT) return reader.u64()
      reader.skip(length)
    }
    return 0n
  })
  return withheld ?? 0n
}

const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** The associated token account (spl.solana.com/associated-token-account). Null: an invalid key. */
export function associatedAccount(owner: string, mint: string, program: string): string | null {
  const seeds = [owner, program, mint].map(keyBytes)
  const keys = seeds.filter((seed) => seed !== null)
  return keys.length < seeds.length ? null : derivedAddress(keys, ASSOCIATED)
}
