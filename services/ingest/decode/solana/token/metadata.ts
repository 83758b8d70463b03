/** What a token is called, from wherever it keeps that. */
import { printableText, TEXT_MAX } from '../../printable-text.js'
import { SYSTEM } from '../native-programs.js'
import type { ByteReader } from '../wire/bytes.js'
import { Malformed } from '../wire/malformed.js'

export type Metadata = {
  name: string | null
  symbol: string | null
  /** Where more is told of it, off the chain. */
  uri: string | null
  /** Who may change it; null: nobody. */
  updateAuthority: string | null
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Name, symbol and address, in this order, each after its length in four bytes, of any length the account has room for. */
export function readTexts(reader: ByteReader): Pick<Metadata, 'name' | 'symbol' | 'uri'> {
  const [name, symbol, uri] = [readText(reader), readText(reader), readText(reader)]
  // A name that was cut is still one, an address is not.
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
    throw new Malformed('a text is no UTF-8')
  }
}

/** 32 bytes; all zeros stand for nobody. */
export function readOptionalKey(reader: ByteReader): string | null {
  const key = reader.pubkey()
  return key === SYSTEM ? null : key
}

/** Account bytes → facts; null: they are not what they should be. */
export function orNull<T>(read: () => T | null): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}
