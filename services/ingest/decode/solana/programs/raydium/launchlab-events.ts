/** Events Raydium LaunchLab emits in calls to itself and again in logs (program `LanMV9sA…`, its on-chain IDL as sevenlabs-hq/carbon has it). */

import { Malformed } from '../../decode-errors.js'
import { eventDiscriminator, payloadOf } from '../../instruction/anchor.js'
import { eventsNamed } from '../../instruction/pool-leg.js'
import { readBytes } from '../../instruction/read-instruction.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

const TRADE = eventDiscriminator('TradeEvent')
const POOL_CREATE = eventDiscriminator('PoolCreateEvent')

/** The pool, twelve amounts, direction and status: the first layout, before creators' fees. */
const FIRST_TRADE_BYTES = 32 + 12 * 8 + 2
const FUNDING = 0

export type LaunchTrade = {
  pool: string
  isBuy: boolean
  /** All tokens for sale. */
  forSale: bigint
  /** Sold so far. */
  soldBefore: bigint
  soldAfter: bigint
  raisedAfter: bigint
  amountIn: bigint
  amountOut: bigint
  /** For protocol, platform, creator and referrer, in the quote token. */
  fees: bigint
  /** False: sold out. */
  isFunding: boolean
}

export function launchTradeOf(instruction: Instruction): LaunchTrade | null {
  const [payload] = eventsNamed(instruction, TRADE)
  return payload === undefined ? null : readBytes(instruction, payload, readTrade)
}

function readTrade(reader: ByteReader): LaunchTrade {
  const hasCreatorFee = reader.left > FIRST_TRADE_BYTES
  const pool = reader.pubkey()
  const forSale = reader.u64()
  // The curve's virtual amounts.
  const soldBefore = reader.skip(8 + 8).u64()
  const [, soldAfter, raisedAfter] = [reader.u64(), reader.u64(), reader.u64()]
  const [amountIn, amountOut] = [reader.u64(), reader.u64()]
  const fees = reader.u64() + reader.u64() + reader.u64() + (hasCreatorFee ? reader.u64() : 0n)
  const isBuy = !reader.bool()
  const isFunding = reader.u8() === FUNDING
  return { pool, isBuy, forSale, soldBefore, soldAfter, raisedAfter, amountIn, amountOut, fees, isFunding }
}

export type Launch = {
  /** Null: read from the instruction, which has it among its accounts. */
  pool: string | null
  decimals: number
  name: string
  symbol: string
  uri: string
  /** Null: the curve computes it. */
  forSale: bigint | null
}

/** From the event, else from the instruction's data, which has the same fields in the same order. */
export function launchOf(instruction: Instruction): Launch {
  const [payload] = eventsNamed(instruction, POOL_CREATE)
  if (payload === undefined)
    return readBytes(instruction, payloadOf(instruction.data), (reader) => readLaunch(reader, null))
  return readBytes(instruction, payload, (reader) => {
    const pool = reader.pubkey()
    // The creator and the configuration.
    return readLaunch(reader.skip(32 + 32), pool)
  })
}

const [CONSTANT_PRODUCT, FIXED_PRICE, LINEAR_PRICE] = [0, 1, 2]

function readLaunch(reader: ByteReader, pool: string | null): Launch {
  const decimals = reader.u8()
  const [name, symbol, uri] = [reader.string(), reader.string(), reader.string()]
  const curve = reader.u8()
  if (curve !== CONSTANT_PRODUCT && curve !== FIXED_PRICE && curve !== LINEAR_PRICE)
    throw new Malformed(`unknown curve ${curve}`)
  // First the supply; only this curve states how much of it to sell.
  const forSale = curve === CONSTANT_PRODUCT ? reader.skip(8).u64() : null
  return { pool, decimals, name, symbol, uri, forSale }
}
