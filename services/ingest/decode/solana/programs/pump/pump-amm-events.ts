/** Events of PumpSwap (pump-fun/pump-public-docs, `idl/pump_amm.json`). Read only as far as needed: fields are only ever appended. */
import { eventDiscriminator } from '../../instruction/read-instruction.js'
import { SYSTEM } from '../../native-programs.js'
import type { ByteReader } from '../../wire/byte-reader.js'

export const BUY = eventDiscriminator('BuyEvent')
export const SELL = eventDiscriminator('SellEvent')
export const CREATE_POOL = eventDiscriminator('CreatePoolEvent')
export const DEPOSIT = eventDiscriminator('DepositEvent')
export const WITHDRAW = eventDiscriminator('WithdrawEvent')

export type TradeEvent = {
  isBuy: boolean
  baseAmount: bigint
  /** Into or out of the pool, including the liquidity providers' fee. The other fees are paid on top of it, or out of it. */
  quoteAmount: bigint
  /** What the user paid or received, after all fees. */
  userQuoteAmount: bigint
  pool: string
  user: string
  userBase: string
  userQuote: string
  /** The protocol's and the creator's fees stayed in the pool's account, to be swept later. */
  keepsFees: boolean
  /** Null: an event version without it. */
  boost: Boost | null
}

/** Signed: what the price adds to the account's balance, less unswept fees in it. */
export type Boost = {
  virtualQuote: bigint
  isBoosted: boolean
  /** An event version whose trades may leave fees in the account. */
  mayKeepFees: boolean
}

export function readBuy(reader: ByteReader): TradeEvent {
  const first = readTrade(reader, true)
  return { ...first, boost: readBoost(reader, VOLUME_BYTES, true) }
}

export function readSell(reader: ByteReader): TradeEvent {
  const first = readTrade(reader, false)
  return { ...first, boost: readBoost(reader, 0, false) }
}

/** The fields of the first version, and the creator's fee. */
function readTrade(reader: ByteReader, isBuy: boolean): Omit<TradeEvent, 'boost'> {
  const baseAmount = reader.skip(8).u64()
  reader.skip(5 * 8)
  const gross = reader.u64()
  reader.skip(4 * 8)
  const [quoteAmount, reported] = [reader.u64(), reader.u64()]
  // If the user fixes what they pay, the two swap places: the first is the total, the last is the rest without fees.
  const userQuoteAmount = isBuy && gross > reported ? gross : reported
  const [pool, user, userBase, userQuote] = [reader.pubkey(), reader.pubkey(), reader.pubkey(), reader.pubkey()]
  const keepsFees = reader.pubkey() === SYSTEM
  reader.pubkey()
  if (reader.left > 0) reader.skip(CREATOR_BYTES)
  return { isBuy, baseAmount, quoteAmount, userQuoteAmount, pool, user, userBase, userQuote, keepsFees }
}

const CREATOR_BYTES = 32 + 8 + 8
const VOLUME_BYTES = 1 + 8 + 8 + 8 + 8
const CASHBACK_BYTES = 8 + 8
const BUYBACK_BYTES = 8 + 8

function readBoost(reader: ByteReader, volumeBytes: number, hasName: boolean): Boost | null {
  const parts = [
    () => reader.skip(volumeBytes),
    ...(hasName ? [() => reader.skip(8), () => reader.string()] : []),
    () => reader.skip(CASHBACK_BYTES),
    () => reader.skip(BUYBACK_BYTES),
  ]
  for (const read of parts) {
    if (reader.left === 0) return null
    read()
  }
  // Padding of older versions is shorter than this field.
  if (reader.left < 17) return null
  const virtualQuote = reader.i128()
  const isBoosted = reader.bool()
  return { virtualQuote, isBoosted, mayKeepFees: reader.left > 8 }
}

export type CreatePoolEvent = {
  creator: string
  baseMint: string
  quoteMint: string
  baseDecimals: number
  quoteDecimals: number
  baseAmount: bigint
  quoteAmount: bigint
  pool: string
}

export function readCreatePool(reader: ByteReader): CreatePoolEvent {
  const [creator, baseMint, quoteMint] = [reader.skip(8 + 2).pubkey(), reader.pubkey(), reader.pubkey()]
  const [baseDecimals, quoteDecimals] = [reader.u8(), reader.u8()]
  const [baseAmount, quoteAmount] = [reader.u64(), reader.u64()]
  const pool = reader.skip(5 * 8 + 1).pubkey()
  return { creator, baseMint, quoteMint, baseDecimals, quoteDecimals, baseAmount, quoteAmount, pool }
}

export type LiquidityEvent = { baseAmount: bigint; quoteAmount: bigint; pool: string; user: string }

/** Deposits and withdrawals have the same layout. */
export function readLiquidity(reader: ByteReader): LiquidityEvent {
  const [baseAmount, quoteAmount] = [reader.skip(8 * 8).u64(), reader.u64()]
  return { baseAmount, quoteAmount, pool: reader.skip(8).pubkey(), user: reader.pubkey() }
}
