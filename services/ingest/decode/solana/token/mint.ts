/** Mint accounts of the two token programs (docs.rs, `spl_token_interface::state::Mint`). Token-2022's may have extensions after the room of a token account. */

import { Malformed } from '../decode-errors.js'
import { TOKEN, TOKEN_2022 } from '../native-programs.js'
import { ByteReader } from '../wire/byte-reader.js'
import { orNull } from './metadata.js'
import { type MintExtensions, NO_EXTENSIONS, readExtensions } from './mint-extensions.js'

export type Mint = {
  program: string
  decimals: number
  supplyRaw: bigint
  /** Who may make more of it; null: nobody, for ever. */
  mintAuthority: string | null
  /** Who may freeze accounts of it; null: nobody, for ever. */
  freezeAuthority: string | null
  extensions: MintExtensions
}

const MINT_BYTES = 82
/** Extensions start after what a token account takes, so that the two cannot be mistaken for each other; then a byte says which it is. */
const KIND_AT = 165
const MINT_KIND = 1
/** Never a mint's: a shared signature has it. */
const MULTISIG_BYTES = 355

/** Null: no mint, or one that was never set up. */
export function readMint(account: { owner: string; data: Uint8Array }, address: string): Mint | null {
  const { owner, data } = account
  const isExtended = owner === TOKEN_2022 && data.length > KIND_AT && data.length !== MULTISIG_BYTES
  if (data.length !== MINT_BYTES && !isExtended) return null
  if (owner !== TOKEN && owner !== TOKEN_2022) return null
  return orNull(() => {
    const reader = new ByteReader(data)
    const mintAuthority = readAuthority(reader)
    const [supplyRaw, decimals] = [reader.u64(), reader.u8()]
    if (!reader.bool()) return null
    const plain = { program: owner, decimals, supplyRaw, mintAuthority, freezeAuthority: readAuthority(reader) }
    if (!isExtended) return { ...plain, extensions: NO_EXTENSIONS }
    const rest = new ByteReader(data, KIND_AT)
    return rest.u8() === MINT_KIND ? { ...plain, extensions: readExtensions(rest, address) } : null
  })
}

/** Four bytes say whether there is one; the room is there either way. */
function readAuthority(reader: ByteReader): string | null {
  const tag = reader.u32()
  if (tag > 1) throw new Malformed(`${tag} says neither that there is an authority nor that there is none`)
  const key = reader.pubkey()
  return tag === 1 ? key : null
}
