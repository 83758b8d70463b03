/** What every action of a block works with, and how its wallet is chosen. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { AddressBook } from './addresses.js'
import type { BlockWriter, Ledger } from './ledger.js'
import { type MarketState, type Pool, SLOT, type Token } from './market-state.js'
import type { Random } from './random.js'
import type { Venue } from './venues.js'

export type Stage = {
  facts: ChainFacts
  venue: Venue
  state: MarketState
  random: Random
  writer: BlockWriter
  ledger: Ledger
  book: AddressBook
  /** The previous trade's pool. */
  lastPool: Pool | null
  /** In thin history: this block's traders. */
  traders: number[]
  timeMs: number
  isLive: boolean
  /** This chain's swaps a second at this time, before rhythm and bursts. */
  swapsPerS: number
}

/** A thin block has few traders, because each adds a balance event. */
const TRADERS_IN_HISTORY = 3

/** Few wallets trade often, many rarely. */
export function anyTrader({ random, isLive, traders }: Stage): number {
  if (!isLive && traders.length === TRADERS_IN_HISTORY) return random.pick(traders)
  const trader = drawTrader(random)
  if (!isLive) traders.push(trader)
  return trader
}

function drawTrader(random: Random): number {
  const rank = random.next()
  return SLOT.firstTrader + Math.floor(rank * rank * rank * (SLOT.end - SLOT.firstTrader))
}

const TRIES = 4

/** A trader who has about the amount to sell. */
export function traderWith(stage: Stage, token: Token, wanted: bigint): number | undefined {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const slot = anyTrader(stage)
    if (stage.ledger.balanceOf(token, slot) * 5n >= wanted) return slot
  }
  return undefined
}

const HOLDERS_LOOKED_AT = 50

/** One of the longest-standing holders. */
export function holderOf({ random }: Stage, { balances }: Token): number | undefined {
  let skip = random.int(0, Math.min(HOLDERS_LOOKED_AT, balances.size) - 1)
  for (const slot of balances.keys()) {
    if (skip <= 0 && slot >= SLOT.firstTrader) return slot
    skip -= 1
  }
  return undefined
}
