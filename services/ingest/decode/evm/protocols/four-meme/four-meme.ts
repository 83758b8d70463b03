/**
 * four.meme (BNB Smart Chain): a token is sold along a bonding curve until its offer is sold out, then its liquidity
 * moves to Pancake. The curve is the venue `<token>_fo` of the token and its quote token. Amounts are what enters and
 * leaves the curve (`cost`), without the fee. Reserves are the remaining offer and the funds raised, as stated by every
 * trade (fourmeme-docs: trade-guide.md); progress is published at every percent.
 */
import { addressAt, bytesAt, expectShape, uintAt } from '../../abi/log-fields.js'
import type { EvmLog } from '../../log.js'
import { type Applied, BadLog, type Protocol, type VenueEvent } from '../../protocol.js'
import { isFromOtherContract, type Venue, type VenueState } from '../../venue.js'
import {
  CREATE,
  CREATE_1,
  CURVE,
  describeCurve,
  LIQUIDITY_ADDED,
  PURCHASE,
  PURCHASE_1,
  pancakePairOf,
  readCurveState,
  SALE,
  SALE_1,
  TOPICS_1,
  TRADE_STOP,
} from './four-meme-contracts.js'

const PLATFORM = 'fourmeme'
const [TOKEN, QUOTE] = [0, 1]

export const fourMeme: Protocol = {
  name: 'four-meme',
  isSingleton: true,
  ids: CURVE,
  // The creation log does not name the quote token, so the curve is described at its first log, which is the creation.
  creationTopics: [],
  topics: [CREATE, PURCHASE, SALE, TRADE_STOP, LIQUIDITY_ADDED, ...TOPICS_1],
  venueOf: (log) => `${tokenOf(log)}_fo`,
  created: () => null,
  describe: describeCurve,
  emptyState: () => ({ reserves: null }),
  readState: readCurveState,
  apply(log, venue, state) {
    if (isFromOtherContract(log, venue.facts?.manager)) return { state, events: [] }
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
        return { state, events: [launch(log, venue, 'curve', 1, venue.id)] }
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
  if (forSale === null) return { state: { reserves: null }, events: [created] }
  const reserves = [forSale, 0n]
  const offered: VenueEvent = {
    kind: 'liquidity',
    change: 'add',
    log,
    reserves,
    sender: addressAt(log, 0),
    amounts: reserves,
  }
  return { state: { reserves }, events: [created, offered] }
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
  const events = isNews ? [swap, launch(log, venue, 'curve', progress, venue.id)] : [swap]
  return { state: { reserves }, events }
}

/** The first manager's logs have amounts only, no reserves. */
function applyOldTrade(log: EvmLog, state: VenueState): Applied<VenueState> {
  const [topic = ''] = log.topics
  const hasFee = topic === PURCHASE_1[0] || topic === SALE_1[0]
  expectShape(log, 1, hasFee ? 5 : 4)
  const [amount, paid] = [uintAt(log, 2), uintAt(log, 3)]
  return { state, events: [trade(log, PURCHASE_1.includes(topic), amount, paid, null)] }
}

/** The liquidity, with the tokens reserved for it, is now in Pancake's pair. Until March 2025 it was a Pancake V3 pool: see `graduatedTo`. */
function applyGraduation(log: EvmLog, venue: Venue): Applied<VenueState> {
  expectShape(log, 1, 4)
  const reserves = [0n, 0n]
  const pair = pancakePairOf(venue.tokens)
  const emptied: VenueEvent = { kind: 'reserves', log, reserves, sender: log.address }
  return { state: { reserves }, events: [emptied, launch(log, venue, 'graduated', 1, pair)] }
}

function trade(
  log: EvmLog,
  isPurchase: boolean,
  amount: bigint,
  cost: bigint,
  reserves: VenueState['reserves'],
): VenueEvent {
  const account = addressAt(log, 1)
  if (amount === 0n && cost === 0n) throw new BadLog(log, 'trade with zero amounts')
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
): VenueEvent {
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
