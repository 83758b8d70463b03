/**
 * Events of the Pump.fun program (pump-fun/pump-public-docs, `idl/pump.json`). Fields were appended over the years and none was
 * removed, so an event is read as far as it goes: missing fields at its end mean an older version.
 */

import { Malformed } from '../../decode-errors.js'
import { eventDiscriminator } from '../../instruction/read-instruction.js'
import { SYSTEM, WRAPPED_SOL } from '../../native-programs.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export const TRADE = eventDiscriminator('TradeEvent')
export const CREATE = eventDiscriminator('CreateEvent')
export const COMPLETE = eventDiscriminator('CompleteEvent')
export const POST_COMPLETE_BUY = eventDiscriminator('PostCompleteBuyEvent')
export const MIGRATION = eventDiscriminator('CompletePumpAmmMigrationEvent')

export type TradeEvent = {
  mint: string
  quoteMint: string
  /** Without fees. */
  quoteAmount: bigint
  tokenAmount: bigint
  isBuy: boolean
  user: string
  virtualQuote: bigint
  virtualToken: bigint
  realQuote: bigint
  realToken: bigint
  creator: string | null
}

export function readTrade(reader: ByteReader): TradeEvent {
  const mint = reader.pubkey()
  const solAmount = reader.u64()
  const tokenAmount = reader.u64()
  const isBuy = reader.bool()
  const user = reader.pubkey()
  reader.i64()
  const [virtualSol, virtualToken] = [reader.u64(), reader.u64()]
  // The first layout ended here; the second adds the real reserves.
  const isFirst = reader.left === 0
  const realSol = isFirst ? realOf(virtualSol, FIRST_VIRTUAL_SOL) : reader.u64()
  const realToken = isFirst ? realOf(virtualToken, FIRST_VIRTUAL_TOKEN) : reader.u64()
  const creator = reader.left === 0 ? null : readCreator(reader)
  const quote = reader.left === 0 ? null : readQuote(reader)
  return {
    mint,
    quoteMint: quote?.quoteMint ?? WRAPPED_SOL,
    quoteAmount: quote?.quoteAmount ?? solAmount,
    tokenAmount,
    isBuy,
    user,
    virtualQuote: quote?.virtualQuote ?? virtualSol,
    virtualToken,
    realQuote: quote?.realQuote ?? realSol,
    realToken,
    creator,
  }
}

/** Initial virtual reserves of every curve of the first layout (docs/PUMP_PROGRAM_README.md): virtual less real reserves never change. */
const FIRST_VIRTUAL_SOL = 30_000_000_000n
const FIRST_VIRTUAL_TOKEN = 279_900_000_000_000n

function realOf(virtual: bigint, first: bigint): bigint {
  if (virtual < first) throw new Malformed(`virtual reserves of ${virtual}, below the ${first} they started with`)
  return virtual - first
}

function readCreator(reader: ByteReader): string {
  reader.pubkey()
  reader.skip(8 + 8)
  const creator = reader.pubkey()
  reader.skip(8 + 8)
  return creator
}

const VOLUME_BYTES = 1 + 8 + 8 + 8 + 8
const CASHBACK_BYTES = 8 + 8
const BUYBACK_BYTES = 8 + 8
const SHAREHOLDER_BYTES = 32 + 2

/** Null: a version whose curves all traded against SOL. */
function readQuote(reader: ByteReader) {
  reader.skip(VOLUME_BYTES)
  if (reader.left === 0) return null
  reader.string()
  if (reader.left === 0) return null
  reader.bool()
  for (const bytes of [CASHBACK_BYTES, BUYBACK_BYTES]) {
    if (reader.left === 0) return null
    reader.skip(bytes)
  }
  if (reader.left === 0) return null
  reader.skip(reader.u32() * SHAREHOLDER_BYTES)
  if (reader.left === 0) return null
  const quoteMint = quoteMintOf(reader.pubkey())
  return { quoteMint, quoteAmount: reader.u64(), virtualQuote: reader.u64(), realQuote: reader.u64() }
}

/** The zero key means SOL. */
export function quoteMintOf(key: string): string {
  return key === SYSTEM ? WRAPPED_SOL : key
}

export type CreateEvent = {
  name: string
  symbol: string
  uri: string
  mint: string
  curve: string
  user: string
  creator: string
  quoteMint: string
  /** The tokens for sale; null: an event version without it. */
  realToken: bigint | null
}

/**
 * Bytes after `user` in each known layout (IDLs of pump-fun/pump-public-docs and of npm's `@pump-fun/pump-sdk` 1.2 to 2.0), named after its last field.
 * Any other length up to the last one is a truncated event; a longer event has a later layout, since fields are only appended.
 */
const CREATE_BYTES = {
  user: 0,
  timestamp: 40,
  tokenTotalSupply: 72,
  isMayhemMode: 105,
  isCashbackEnabled: 106,
  virtualQuoteReserves: 146,
  isHolderReward: 155,
} as const
const CREATE_LENGTHS: ReadonlySet<number> = new Set(Object.values(CREATE_BYTES))

export function readCreate(reader: ByteReader): CreateEvent {
  const [name, symbol, uri] = [reader.string(), reader.string(), reader.string()]
  const [mint, curve, user] = [reader.pubkey(), reader.pubkey(), reader.pubkey()]
  const { left } = reader
  if (left < CREATE_BYTES.isHolderReward && !CREATE_LENGTHS.has(left))
    throw new Malformed(`${left} bytes after the user: no known layout of CreateEvent has this length`)
  const creator = left >= CREATE_BYTES.timestamp ? reader.pubkey() : user
  const realToken = left >= CREATE_BYTES.tokenTotalSupply ? reader.skip(8 + 8 + 8).u64() : null
  if (left >= CREATE_BYTES.isMayhemMode) reader.skip(8 + 32).bool()
  if (left >= CREATE_BYTES.isCashbackEnabled) reader.bool()
  const quoteMint = left >= CREATE_BYTES.virtualQuoteReserves ? quoteMintOf(reader.pubkey()) : WRAPPED_SOL
  return { name, symbol, uri, mint, curve, user, creator, quoteMint, realToken }
}

export type CompleteEvent = { mint: string; curve: string }

export function readComplete(reader: ByteReader): CompleteEvent {
  reader.pubkey()
  return { mint: reader.pubkey(), curve: reader.pubkey() }
}

export type PostCompleteBuy = {
  user: string
  mint: string
  curve: string
  quoteMint: string
  baseOut: bigint
  quoteIn: bigint
  baseAfter: bigint
  quoteAfter: bigint
}

export function readPostCompleteBuy(reader: ByteReader): PostCompleteBuy {
  const [user, mint, curve] = [reader.pubkey(), reader.pubkey(), reader.pubkey()]
  const quoteMint = quoteMintOf(reader.pubkey())
  const [baseOut, quoteIn] = [reader.skip(8).u64(), reader.u64()]
  const [baseAfter, quoteAfter] = [reader.skip(7 * 8).u64(), reader.u64()]
  return { user, mint, curve, quoteMint, baseOut, quoteIn, baseAfter, quoteAfter }
}

export type Migration = {
  user: string
  mint: string
  curve: string
  quoteMint: string
  tokenAmount: bigint
  quoteAmount: bigint
  /** The pool it trades in from now on. */
  pool: string
}

export function readMigration(reader: ByteReader): Migration {
  const [user, mint] = [reader.pubkey(), reader.pubkey()]
  const [tokenAmount, quoteAmount] = [reader.u64(), reader.u64()]
  const curve = reader.skip(8).pubkey()
  const pool = reader.skip(8).pubkey()
  const quoteMint = reader.left === 0 ? WRAPPED_SOL : quoteMintOf(reader.pubkey())
  return { user, mint, curve, quoteMint, tokenAmount, quoteAmount, pool }
}
