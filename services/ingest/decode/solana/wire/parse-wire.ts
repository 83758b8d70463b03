/**
 * The encodings `base58` and `base64`: a transaction's own bytes (docs.anza.xyz, "Transactions" and "Versioned transactions"): signatures, then the message,
 * legacy or version 0. Inner instructions are in the meta, as JSON.
 */

import { BadTransaction, Malformed } from '../decode-errors.js'
import { decodeBase58, encodeBase58 } from '../keys/base58.js'
import { ByteReader } from './byte-reader.js'
import type { RawInstruction } from './raw-transaction.js'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** The first byte of a versioned message; a legacy message starts with its number of signers. */
const VERSIONED = 0x80
/** A transaction has at most 1,232 bytes, so it cannot have more keys or instructions. */
const MAX_ITEMS = 1232

export type WireMessage = {
  signature: string
  signers: number
  keys: string[]
  instructions: { program: number; accounts: Uint8Array; data: Uint8Array }[]
}

export function readWire(text: string, encoding: unknown): WireMessage {
  try {
    return messageOf(encoding === 'base64' ? base64Bytes(text) : decodeBase58(text))
  } catch (error) {
    throw error instanceof Malformed ? new BadTransaction('transaction', `is malformed: ${error.message}`) : error
  }
}

/** `accounts`: including the looked-up ones. */
export function wireInstructions({ instructions }: WireMessage, accounts: readonly string[]): RawInstruction[] {
  const keyOf = (place: number): string => {
    const key = accounts[place]
    if (key === undefined)
      throw new BadTransaction('transaction', `has account index ${place}, but there are ${accounts.length} accounts`)
    return key
  }
  return instructions.map(({ program, accounts: places, data }) => ({
    programId: keyOf(program),
    accounts: Array.from(places, keyOf),
    data,
    stackHeight: null,
    parsed: null,
  }))
}

const PADDING = '='.charCodeAt(0)

/** Node's decoder skips invalid characters. */
export function base64Bytes(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  let digits = text.length
  while (text.charCodeAt(digits - 1) === PADDING) digits -= 1
  const promised = Math.floor((digits * 3) / 4)
  if (bytes.length !== promised) throw new Malformed('not base64')
  return bytes
}

function messageOf(bytes: Uint8Array): WireMessage {
  const reader = new ByteReader(bytes)
  const signatures = Array.from({ length: lengthOf(reader) }, () => reader.raw(SIGNATURE_BYTES))
  const [first] = signatures
  if (first === undefined) throw new Malformed('it has no signature')
  const signers = reader.u8()
  if (signers >= VERSIONED) {
    if (signers !== VERSIONED) throw new Malformed(`unsupported message version ${signers - VERSIONED}`)
    reader.u8()
  }
  reader.skip(2)
  const keys = Array.from({ length: lengthOf(reader) }, () => encodeBase58(reader.raw(KEY_BYTES)))
  reader.skip(KEY_BYTES)
  const instructions = Array.from({ length: lengthOf(reader) }, () => ({
    program: reader.u8(),
    accounts: reader.raw(lengthOf(reader)),
    data: reader.raw(lengthOf(reader)),
  }))
  return { signature: encodeBase58(first), signers: signatures.length, keys, instructions }
}

/** Compact-u16: seven bits a byte, the lowest first. */
function lengthOf(reader: ByteReader): number {
  let length = 0
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = reader.u8()
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      if (length > MAX_ITEMS) throw new Malformed(`${length} items are too many`)
      return length
    }
  }
  throw new Malformed('a length of more than three bytes')
}
