/** What every action of a block works with, and the two ways a wallet is found for it. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { AddressBook } from './addresses.js'
import type { BlockWriter } from './block-writer.js'
import type { Ledger } from './ledger.js'
import type { Random } from './random.js'
import { type MarketState, SLOT, type Token } from './state.js'
import type { Venue } from './venues.js'

export type Stage = {
  facts: ChainFacts
  venue: Venue
  state: MarketState
  random: Random
  writer: BlockWriter
  ledger: Ledger
  book: AddressBook
  timeMs: number
  isLive: boolean
  /** This chain's swaps a second at this time, before rhythm and bursts. */
  swapsPerS: number
}

/** Few wallets trade often, many seldom. */
export function anyTrader({ random }: Stage): number {
  const rank = random.next()
  return SLOT.firstTrader + Math.floor(rank * rank * rank * (SLOT.end - SLOT.firstTrader))
}

const TRIES = 4

/** A trader who has about as much as he is to sell. */
export function traderWith(stage: Stage, token: Token, wanted: bigint): number | undefined {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const slot = anyTrader(stage)
    if (stage.ledger.balanceOf(token, slot) * 5n >= wanted) return slot
  }
  return undefined
}
