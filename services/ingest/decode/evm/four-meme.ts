/**
 * four.meme (BNB Smart Chain): a token is sold along a bonding curve until its offer is gone, then its liquidity moves to Pancake.
 * The curve is the venue `<token>_fo` of the token and what it is paid with. Amounts are what enters and leaves the curve: `cost`;
 * the fee is paid beside it. Reserves are the offer left and the funds raised, as every trade tells them right after it (fourmeme-docs:
 * trade-guide.md); progress is told at every percent.
 */
import { addressAt, bytesAt, expectShape, uintAt } from './abi.js'
import { CURVE, describeCurve, readCurveState } from './four-meme-reading.js'
import {
  CREATE,
  CREATE_1,
  LIQUIDITY_ADDED,
  PURCHASE,
  PURCHASE_1,
  SALE,
  SALE_1,
  TOPICS_1,
  TRADE_STOP,
} from './four-meme-topics.js'
import type { EvmLog } from './log.js'
import { pancakePairOf } from './pancake-pair.js'
import { type Applied, BadLog, type Happening, type Protocol } from './protocol.js'
import { isStranger } from './stranger.js'
import type { Venue, VenueState } from './venue.js'

const PLATFORM = 'fourmeme'
const [TOKEN, QUOTE] = [0, 1]

export const fourMeme: Protocol = {
  name: 'four-meme',
  isSingleton: true,
  ids: CURVE,
  // The log of a creation does not tell what the token is paid with: the curve is described at its first log, which it is.
  creationTopics: [],
  topics: [CREATE, PURCHASE, SALE, TRADE_STOP, LIQUIDITY_ADDED, ...TOPICS_1],
  venueOf: (log) => `${tokenOf(log)}_fo`,
  created: () => null,
  describe: describeCurve,
  emptyState: () => ({ reserves: null }),
  readState: readCurveState,
  apply(log, venue, state) {
    if (isStranger(log, venue.facts?.manager)) return { state, happenings: [] }
    switch (log.topics[0]) {
      case CREATE:
      case CREATE_1:
        return applyCreate(log, venue)
      case PURCHASE:
      case SALE:
        return applyTrade(log, venue, state)
      case LIQUIDITY_ADDED:
        return applyGraduation(log, venue)
      case TRADE_STOP:
        expectShape(log, 1, 1)
        return { state, happenings: [launch(log, venue, 'curve', 1, venue.id)] }
      default:
        return applyOldTrade(log, state)
    }
  },
  isPricedByTrades: () => true,
}

function tokenOf(log: EvmLog): string {
  return addressAt(log, log.topics[0] === CREATE || log.topics[0] === CREATE_1 ? 1 : 0)
}

function applyCreate(log: EvmLog, venue: Venue): Applied<VenueState> {
  expectWholeCreate(log)
  const forSale = numberOf(venue.facts?.maxOffers)
  const created = launch(log, venue, 'created', 0, venue.id)
  if (forSale === null) return { state: { reserves: null }, happenings: [created] }
  const reserves = [forSale, 0n]
  const offered: Happening = {
    kind: 'liquidity',
    change: 'add',
    log,
    reserves,
    sender: addressAt(log, 0),
    amounts: reserves,
  }
  return { state: { reserves }, happenings: [created, offered] }
}

/** Name and symbol are texts of any length, each filled up to whole words. */
function expectWholeCreate(log: EvmLog): void {
  if (log.topics.length !== 1) throw new BadLog(log, `${log.topics.length} topics, expected 1`)
  const headWords = log.topics[0] === CREATE ? 8 : 7
  const textWords = [3, 4].map((word) => 1 + Math.ceil((bytesAt(log, word).length - 2) / 64))
  const words = textWords.reduce((sum, count) => sum + count, headWords)
  if (log.data.length < 2 + words * 64)
    throw new BadLog(log, `${(log.data.length - 2) / 2} bytes of data, expected ${words * 32}`)
}

function applyTrade(log: EvmLog, venue: Venue, state: VenueState): Applied<VenueState> {
  expectShape(log, 1, 8)
  const [amount, cost] = [uintAt(log, 3), uintAt(log, 4)]
  const [offers, funds] = [uintAt(log, 6), uintAt(log, 7)]
  const reserves = [offers, funds]
  const swap = trade(log, log.topics[0] === PURCHASE, amount, cost, reserves)
  const maxOffers = numberOf(venue.facts?.maxOffers)
  const [before, progress] = [shareSold(state.reserves?.[TOKEN], maxOffers), shareSold(offers, maxOffers)]
  const isNews = progress === null || before === null || Math.floor(before * 100) !== Math.floor(progress * 100)
  const happenings = isNews ? [swap, launch(log, venue, 'curve', progress, venue.id)] : [swap]
  return { state: { reserves }, happenings }
}

/** The first manager tells amounts alone. */
function applyOldTrade(log: EvmLog, state: VenueState): Applied<VenueState> {
  const [topic = ''] = log.topics
  const tellsFee = topic === PURCHASE_1[0] || topic === SALE_1[0]
  expectShape(log, 1, tellsFee ? 5 : 4)
  const [amount, paid] = [uintAt(log, 2), uintAt(log, 3)]
  return { state, happenings: [trade(log, PURCHASE_1.includes(topic), amount, paid, null)] }
}

/** All of it is in Pancake's pair now, the tokens kept back for it too. Until March 2025 it was a pool of Pancake V3: see `block/graduated-to.ts`. */
function applyGraduation(log: EvmLog, venue: Venue): Applied<VenueState> {
  expectShape(log, 1, 4)
  const reserves = [0n, 0n]
  const pair = pancakePairOf(venue.tokens)
  const emptied: Happening = { kind: 'reserves', log, reserves, sender: log.address }
  return { state: { reserves }, happenings: [emptied, launch(log, venue, 'graduated', 1, pair)] }
}

function trade(
  log: EvmLog,
  isPurchase: boolean,
  amount: bigint,
  cost: bigint,
  reserves: VenueState['reserves'],
): Happening {
  const account = addressAt(log, 1)
  if (amount === 0n && cost === 0n) throw new BadLog(log, 'a trade of nothing')
  return {
    kind: 'swap',
    log,
    reserves,
    sender: account,
    recipient: account,
    ...(isPurchase
      ? { tokenIn: QUOTE, tokenOut: TOKEN, amountIn: cost, amountOut: amount }
      : { tokenIn: TOKEN, tokenOut: QUOTE, amountIn: amount, amountOut: cost }),
  }
}

function launch(
  log: EvmLog,
  { tokens }: Venue,
  stage: 'created' | 'curve' | 'graduated',
  progress: number | null,
  pool: string,
): Happening {
  return { kind: 'launch', log, reserves: null, platform: PLATFORM, token: tokens[TOKEN] ?? '', stage, progress, pool }
}

/** To the millionth. */
function shareSold(offers: bigint | undefined, maxOffers: bigint | null): number | null {
  if (offers === undefined || maxOffers === null || maxOffers === 0n) return null
  const sold = ((maxOffers - offers) * 1_000_000n) / maxOffers
  return Math.min(1, Math.max(0, Number(sold) / 1_000_000))
}

function numberOf(fact: string | number | boolean | undefined): bigint | null {
  return typeof fact === 'string' ? BigInt(fact) : null
}
