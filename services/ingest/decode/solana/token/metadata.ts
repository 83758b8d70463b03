/** A token's name, symbol and URI, from its mint or from Metaplex's Token Metadata program. */

import { printableText, TEXT_MAX } from '../../printable-text.js'
import { Malformed } from '../decode-errors.js'
import { derivedAddress, keyBytes } from '../keys/derived-address.js'
import { SYSTEM } from '../native-programs.js'
import { ByteReader } from '../wire/byte-reader.js'

export type Metadata = {
  name: string | null
  symbol: string | null
  /** Address of more metadata, off-chain. */
  uri: string | null
  /** May change it; null: immutable. */
  updateAuthority: string | null
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Name, symbol and URI, in this order, each after its length in four bytes, of any length that fits the account. */
export function readTexts(reader: ByteReader): Pick<Metadata, 'name' | 'symbol' | 'uri'> {
  const [name, symbol, uri] = [readText(reader), readText(reader), readText(reader)]
  // A truncated name is still useful, a truncated URI is not.
  return {
    name: printableText(name),
    symbol: printableText(symbol),
    uri: uri.length > TEXT_MAX ? null : printableText(uri),
  }
}

function readText(reader: ByteReader): string {
  const bytes = reader.raw(reader.u32())
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Malformed('a text is not UTF-8')
  }
}

/** 32 bytes; all zeros mean none. */
export function readOptionalKey(reader: ByteReader): string | null {
  const key = reader.pubkey()
  return key === SYSTEM ? null : key
}

/** Null: the account's bytes are malformed. */
export function orNull<T>(read: () => T | null): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}

export const METAPLEX = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'

const PREFIX = new TextEncoder().encode('metadata')
/** The first byte is the account type: `MetadataV1`. */
const METADATA_KEY = 4
/** An address, whether it signed, its share of royalties. */
const CREATOR_BYTES = 32 + 1 + 1

/** Address of a mint's metadata account (docs.rs, `mpl_token_metadata::accounts::Metadata`); null: invalid mint address. */
export function metaplexAddress(mint: string): string | null {
  const [program, key] = [keyBytes(METAPLEX), keyBytes(mint)]
  return program === null || key === null ? null : derivedAddress([PREFIX, program, key], METAPLEX)
}

/** Texts are padded with zeros, except in accounts written since 2024. The authority of an immutable account counts as none. */
export function readMetaplex(account: { owner: string; data: Uint8Array }, mint: string): Metadata | null {
  if (account.owner !== METAPLEX) return null
  return orNull(() => {
    const reader = new ByteReader(account.data)
    if (reader.u8() !== METADATA_KEY) return null
    const authority = reader.pubkey()
    // Another mint's metadata: anybody can point at it.
    if (reader.pubkey() !== mint) return null
    const texts = readTexts(reader)
    reader.skip(2)
    if (reader.bool()) reader.skip(reader.u32() * CREATOR_BYTES)
    reader.bool()
    const isMutable = reader.bool()
    return { ...texts, updateAuthority: isMutable ? authority : null }
  })
}
