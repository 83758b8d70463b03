/** Metadata accounts of Metaplex's Token Metadata program (docs.rs, `mpl_token_metadata::accounts::Metadata`; developers.metaplex.com/token-metadata). */

import { derivedAddress, keyBytes } from '../keys/derived-address.js'
import { ByteReader } from '../wire/byte-reader.js'
import { type Metadata, orNull, readTexts } from './metadata.js'

export const METAPLEX = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'

const PREFIX = new TextEncoder().encode('metadata')
/** The first byte says what kind of account it is: `MetadataV1`. */
const METADATA_KEY = 4
/** An address, whether it signed, its share of royalties. */
const CREATOR_BYTES = 32 + 1 + 1

/** Where a mint's metadata is, if it has any; null: this is no mint's address. */
export function metaplexAddress(mint: string): string | null {
  const [program, key] = [keyBytes(METAPLEX), keyBytes(mint)]
  return program === null || key === null ? null : derivedAddress([PREFIX, program, key], METAPLEX)
}

/** Texts are filled up with zeros, or, in accounts written anew since 2024, are not. An authority that may change nothing is none. */
export function readMetaplex(account: { owner: string; data: Uint8Array }, mint: string): Metadata | null {
  if (account.owner !== METAPLEX) return null
  return orNull(() => {
    const reader = new ByteReader(account.data)
    if (reader.u8() !== METADATA_KEY) return null
    const authority = reader.pubkey()
    // Of another mint: anybody can point at it.
    if (reader.pubkey() !== mint) return null
    const texts = readTexts(reader)
    reader.skip(2)
    if (reader.bool()) reader.skip(reader.u32() * CREATOR_BYTES)
    reader.bool()
    const isMutable = reader.bool()
    return { ...texts, updateAuthority: isMutable ? authority : null }
  })
}
