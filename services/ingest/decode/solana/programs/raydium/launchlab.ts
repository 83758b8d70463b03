/**
 * Raydium LaunchLab: a token is sold along a curve until its offer is gone, then its liquidity moves to a pool of Raydium's (accounts as in
 * raydium-sdk-v2: src/raydium/launchpad/instrument.ts; migrations as in sevenlabs-hq/carbon: decoders/raydium-launchpad-decoder). The curve's account is the pool of the token and its
 * quote. Amounts are what the wallet sends and receives, including fees. Reserves are the remaining offer and the funds raised.
 */
import type { LaunchStage } from '../../../../../core/domain/records.js'
import { BadInstruction, Malformed } from '../../decode-errors.js'
import {
  countedReserves,
  eventsNamed,
  type Leg,
  movedByChange,
  refuseOtherPool,
  type Side,
  type SwapAmounts,
  sideAt,
  swapOf,
  withReserves,
} from '../../instruction/pool-leg.js'
import {
  accountAt,
  discriminatorOf,
  eventDiscriminator,
  instructionDiscriminator,
  payloadOf,
  readBytes,
} from '../../instruction/read-instruction.js'
import { netInto, transfersIn } from '../../instruction/vaults.js'
import { TOKEN_2022 } from '../../native-programs.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import type { ByteReader } from '../../wire/byte-reader.js'

type Decode = (leg: Leg) => VenueEvent[]

const DECODE_OF = new Map<string, Decode>([
  [instructionDiscriminator('initialize'), created],
  [instructionDiscriminator('initialize_v2'), created],
  [instructionDiscriminator('initialize_with_token_2022'), created],
  [instructionDiscriminator('buy_exact_in'), (leg) => traded(leg, true)],
  [instructionDiscriminator('buy_exact_out'), (leg) => traded(leg, true)],
  [instructionDiscriminator('sell_exact_in'), (leg) => traded(leg, false)],
  [instructionDiscriminator('sell_exact_out'), (leg) => traded(leg, false)],
  [instructionDiscriminator('migrate_to_amm'), (leg) => migrated(leg, { pool: 13, curve: 23, baseVault: 25 })],
  [instructionDiscriminator('migrate_to_cpswap'), (leg) => migrated(leg, { pool: 5, curve: 17, baseVault: 19 })],
])

export const launchLab: Program = {
  name: 'launchlab',
  programIds: ['LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'],
  isPricedByTrades: true,
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    return (discriminator === null ? undefined : DECODE_OF.get(discriminator))?.({ instruction, transaction }) ?? []
  },
}

/** Platforms with their own name, by configuration account. The first is in letsbonk.fun's SDK, all are in its site's requests. */
const PLATFORM_OF = new Map([
  ['FfYek5vEz23cMkWsdJwG2oa6EphsvXSHrGpdALN4g6W1', 'bonk'],
  ['BuM6KDpWiTcxvrpXywWFiw45R2RNH8WURdvqoTDV1BW4', 'bonk'],
  ['82NMHVCKwehXgbXMyzL41mvv3sdkypaMCtTxvJ4CtTzm', 'bonk'],
])
const PLATFORM_PLACE = 3

function platformOf({ accounts }: Instruction): string {
  return PLATFORM_OF.get(accounts[PLATFORM_PLACE] ?? '') ?? 'launchlab'
}

function curveOf(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'launchlab', token0, token1, fee: null, creator: null }
}

function created({ instruction }: Leg): VenueEvent[] {
  const { pool: reported, forSale, ...facts } = launchOf(instruction)
  const sender = accountAt(instruction, 0, 'the payer')
  const creator = accountAt(instruction, 1, 'the creator')
  const address = accountAt(instruction, 5, 'the pool')
  const token = accountAt(instruction, 6, 'the base mint')
  if (reported !== null) refuseOtherPool(instruction, reported, address)
  const pool = { ...curveOf(address, token, accountAt(instruction, 7, 'the quote mint')), creator }
  const venueEvents: VenueEvent[] = [
    { kind: 'pool', instruction, pool },
    { kind: 'token', instruction, token, ...facts },
    launched(instruction, token, 'created', 0, address),
  ]
  if (forSale === null) return venueEvents
  const amounts = { amount0: forSale, amount1: 0n, reserve0: forSale, reserve1: 0n }
  return [...venueEvents, { kind: 'liquidity', instruction, pool, change: 'create', sender, ...amounts }]
}

function traded(leg: Leg, isBuy: boolean): VenueEvent[] {
  const { instruction } = leg
  const address = accountAt(instruction, 4, 'the pool')
  const [base, quote] = [sideAt(instruction, 5, 7, 9), sideAt(instruction, 6, 8, 10)]
  const sender = accountAt(instruction, 0, 'the payer')
  const [input, output] = isBuy ? [quote, base] : [base, quote]
  const pool = curveOf(address, base.mint, quote.mint)
  const trade = launchTradeOf(instruction)
  if (trade !== null) refuseOther(instruction, trade, address, isBuy)
  const reported = trade === null ? null : amountsOf(instruction, trade, base, quote)
  const settled = swapOf(leg, { pool, sender, input, output }, reported)
  if (trade === null) return [settled]
  const reserves = countedReserves(trade.forSale - trade.soldAfter, trade.raisedAfter)
  const swap = withReserves(settled, reserves, null)
  const before = shareSold(trade.soldBefore, trade.forSale)
  const progress = trade.isFunding ? shareSold(trade.soldAfter, trade.forSale) : 1
  const isNews = before === null || progress === null || Math.floor(before * 100) !== Math.floor(progress * 100)
  return isNews ? [swap, launched(instruction, base.mint, 'curve', progress, address)] : [swap]
}

function refuseOther(instruction: Instruction, trade: LaunchTrade, pool: string, isBuy: boolean): void {
  refuseOtherPool(instruction, trade.pool, pool)
  if (trade.isBuy !== isBuy)
    throw new BadInstruction(
      instruction,
      'disagreement',
      `a ${isBuy ? 'buy' : 'sale'} in the instruction, a ${isBuy ? 'sale' : 'buy'} in the event`,
    )
}

/**
 * As sent. Events report quote amounts with or without fees; the transfer decides which. For a base token with a transfer fee, the
 * event may report the arrived amount.
 */
function amountsOf(instruction: Instruction, { isBuy, ...trade }: LaunchTrade, base: Side, quote: Side): SwapAmounts {
  const [reportedBase, reportedQuote] = isBuy ? [trade.amountOut, trade.amountIn] : [trade.amountIn, trade.amountOut]
  const baseSent = movedByChange(instruction, base, !isBuy) ?? reportedBase
  const isWithheld = baseSent > reportedBase && instruction.accounts[BASE_PROGRAM_PLACE] === TOKEN_2022
  const withFees = isBuy ? reportedQuote + trade.fees : reportedQuote - trade.fees
  const quoteAmount = movedByChange(instruction, quote, isBuy) === withFees ? withFees : reportedQuote
  if (!isBuy) return { amountIn: isWithheld ? baseSent : reportedBase, amountOut: quoteAmount }
  const amountIn = quoteAmount
  return isWithheld
    ? { amountIn, amountOut: baseSent, withheld: baseSent - reportedBase }
    : { amountIn, amountOut: reportedBase }
}

const BASE_PROGRAM_PLACE = 11

/** The rest of the supply moves with the funds raised; nothing of the offer remains. */
function migrated({ instruction }: Leg, places: { pool: number; curve: number; baseVault: number }): VenueEvent[] {
  const sender = accountAt(instruction, 0, 'the payer')
  const token = accountAt(instruction, 1, 'the base mint')
  const address = accountAt(instruction, places.curve, 'the curve')
  const graduated = launched(instruction, token, 'graduated', 1, accountAt(instruction, places.pool, 'the new pool'))
  const transfers = transfersIn(instruction)
  const amount0 = -netInto(transfers, accountAt(instruction, places.baseVault, 'the base vault'))
  const amount1 = -netInto(transfers, accountAt(instruction, places.baseVault + 1, 'the quote vault'))
  if (amount0 < 0n || amount1 < 0n)
    throw new BadInstruction(instruction, 'malformed', `a migration pays the curve ${-amount0} and ${-amount1}`)
  if (amount0 === 0n && amount1 === 0n) return [graduated]
  const pool = curveOf(address, token, accountAt(instruction, 2, 'the quote mint'))
  const amounts = { amount0, amount1, reserve0: 0n, reserve1: 0n }
  return [{ kind: 'liquidity', instruction, pool, change: 'remove', sender, ...amounts }, graduated]
}

function launched(
  instruction: Instruction,
  token: string,
  stage: LaunchStage,
  progress: number | null,
  pool: string,
): VenueEvent {
  return { kind: 'launch', instruction, token, platform: platformOf(instruction), stage, progress, pool }
}

/** To the millionth. */
function shareSold(sold: bigint, forSale: bigint): number | null {
  if (forSale === 0n) return null
  return Math.min(1, Number((sold * 1_000_000n) / forSale) / 1_000_000)
}

/** Events are emitted in calls to itself and again in logs (program `LanMV9sA…`, its on-chain IDL as sevenlabs-hq/carbon has it). */
const TRADE = eventDiscriminator('TradeEvent')
const POOL_CREATE = eventDiscriminator('PoolCreateEvent')

/** The pool, twelve amounts, direction and status: the first layout, before creators' fees. */
const FIRST_TRADE_BYTES = 32 + 12 * 8 + 2
const FUNDING = 0

type LaunchTrade = {
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
function launchOf(instruction: Instruction): Launch {
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
