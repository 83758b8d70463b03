/**
 * Raydium LaunchLab: a token is sold along a curve until its offer is gone, then its liquidity moves to a pool of Raydium's (accounts as in
 * raydium-sdk-v2: src/raydium/launchpad/instrument.ts; migrations as in sevenlabs-hq/carbon: decoders/raydium-launchpad-decoder). The curve's account is the pool of the token and its
 * quote. Amounts are what the wallet sends and receives, including fees. Reserves are the remaining offer and the funds raised.
 */
import type { LaunchStage } from '../../../../../core/domain/records.js'
import { BadInstruction } from '../../decode-errors.js'
import { discriminatorOf, instructionDiscriminator } from '../../instruction/anchor.js'
import {
  countedReserves,
  type Leg,
  movedByChange,
  refuseOtherPool,
  type Side,
  type SwapAmounts,
  sideAt,
  swapOf,
  withReserves,
} from '../../instruction/pool-leg.js'
import { accountAt } from '../../instruction/read-instruction.js'
import { netInto, transfersIn } from '../../instruction/vaults.js'
import { TOKEN_2022 } from '../../native-programs.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import { type LaunchTrade, launchOf, launchTradeOf } from './launchlab-events.js'

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
