/** Keys, signatures and random draws derived from a string, the same in every run. */
import { createHash } from 'node:crypto'
import { encodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'
import { createRandom, type Random } from '../market/random.js'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** 32 bytes: an account's key or a block's hash. */
export const keyFrom = (text: string): string => encodeBase58(digest(text))

/** 64 bytes. */
export const signatureFrom = (text: string): string =>
  encodeBase58(Buffer.concat([digest(text), digest(`${text} more`)]))

export const randomFrom = (text: string): Random => createRandom(digest(text).readUInt32BE(0))
