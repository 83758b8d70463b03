/** One chain's market: block after block as plain data, without a clock. The same plan and rates give the same blocks. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Block, Retract } from '../../../core/domain/records.js'
import type { SourceRecord } from '../../source.js'
import { type AddressBook, createAddressBook, spellBlockHash } from './addresses.js'
import { openMarket } from './genesis.js'
import { createBlockWriter, createLedger } from './ledger.js'
import { copyState, FINALITY_BLOCKS, type MarketState, newPool, newToken, SLOT } from './market-state.js'
import { playSlot } from './play-slot.js'
import { createRandom, wordOf } from './random.js'
import type { Stage } from './stage.js'
import { createTimeline } from './timeline.js'
import { shareOf, type Venue, venueOf } from './venues.js'

export type MarketPlan = {
  seed: number
  facts: ChainFacts
  /** All simulated chains: they share the swaps. */
  chains: readonly ChainFacts[]
  startS: number
  historyS: number
  /** Approximate number of swaps in the history, over all chains. */
  historySwaps?: number
}

export interface Market {
  /** When the next slot is due. */
  readonly nextMs: number
  /** Plays the next slot; undefined if it is empty. */
  advance(swapsPerS: number): SourceRecord | undefined
  /** Plain data; `createMarket` continues the same market from it. */
  readonly state: MarketState
}

/** Ordinals of a slot's other random streams; the hash has a different one on every fork. */
const STREAM = { fork: -1, genesis: -2, hash: -3 }

const LIVE_FORK_EVERY_MS = 90_000
const HISTORY_FORK_CHANCE = 1 / 60
const DEEPEST_FORK = 5

export function createMarket(plan: MarketPlan, kept?: MarketState): Market {
  const { facts, seed } = plan
  const venue = venueOf(facts)
  const share = shareOf(facts, plan.chains)
  const timeline = createTimeline(plan.startS, plan.historyS, plan.historySwaps)
  const book = createAddressBook(facts.family, seed, facts.chain)
  const chainWord = wordOf(facts.chain)
  const random = createRandom()
  let state = kept ?? emptyState(timeline.startMs, venue)

  const startStream = (ordinal: number): void => random.start(seed, chainWord, state.number, ordinal)

  function advance(fullRate: number): SourceRecord | undefined {
    if (state.fork?.left === 0) {
      if (state.head.hash !== state.fork.stays.head.hash) return { kind: 'retract', retract: retractFork(state.fork) }
      // Its blocks were all empty: there is nothing to retract.
      state.fork = null
    }
    if (state.fork === null) planFork()
    const block = playNext(fullRate)
    if (state.fork !== null) state.fork.left -= 1
    return block === undefined ? undefined : { kind: 'block', block }
  }

  /** The chain returns to this copy once the blocks after it are orphaned. */
  function planFork(): void {
    if (state.recent.length < FINALITY_BLOCKS || state.number <= state.repeatsTo) return
    // Only right after a published block, so that the fork's depth in heights is exact.
    if (state.head.number !== state.number - 1) return
    startStream(STREAM.fork)
    const isLive = state.nextMs >= timeline.liveMs
    if (!random.chance(isLive ? venue.blockMs / LIVE_FORK_EVERY_MS : HISTORY_FORK_CHANCE)) return
    state.fork = { stays: copyState(state), left: random.int(1, DEEPEST_FORK) }
  }

  function retractFork({ stays }: { stays: MarketState }): Retract {
    const retract = {
      chain: facts.chain,
      from_number: state.head.number,
      from_hash: state.head.hash,
      to_number: stays.head.number,
      to_hash: stays.head.hash,
    }
    const { forks, finalized, head } = state
    state = { ...stays, forks: forks + 1, finalized, repeatsTo: head.number }
    return retract
  }

  function playNext(fullRate: number): Block | undefined {
    const isLive = state.nextMs >= timeline.liveMs
    const allPerS = timeline.swapsPerS(state.nextMs, fullRate)
    const writer = createBlockWriter(facts.family, random)
    const ledger = createLedger(state, facts.family, book, writer, isLive)
    const stage: Stage = {
      ...{ facts, venue, state, random, writer, ledger, book, isLive },
      ...{ lastPool: null, traders: [], timeMs: state.nextMs },
      swapsPerS: allPerS * share,
    }
    if (state.head.hash === '') {
      startStream(STREAM.genesis)
      openMarket(stage)
    } else playSlot(stage, startStream, allPerS / fullRate)
    if (isLive && !state.isCaughtUp) {
      for (const pool of state.pools) ledger.reportPool(pool)
      state.isCaughtUp = true
    }
    writer.transaction()
    ledger.writeBalances()
    const block = writer.events.length === 0 ? undefined : sealBlock(stage)
    const nextMs = state.nextMs + timeline.slotMs(state.nextMs, venue.blockMs)
    // History ends where live blocks begin, aligned to the block time.
    moveTo(isLive ? nextMs : Math.min(nextMs, Math.max(timeline.liveMs, state.nextMs + venue.blockMs)))
    return block
  }

  function sealBlock({ writer }: Stage): Block {
    startStream(STREAM.hash - state.forks)
    const parent_hash = state.head.hash === '' ? spellBlockHash(facts.family, random) : state.head.hash
    const hash = spellBlockHash(facts.family, random)
    state.head = { number: state.number, hash }
    state.recent.push(state.number)
    if (state.recent.length > FINALITY_BLOCKS + 1) state.recent.shift()
    if (state.recent.length > FINALITY_BLOCKS) state.finalized = Math.max(state.finalized, state.recent[0] ?? 0)
    return {
      ...{ chain: facts.chain, number: state.number, hash, parent_hash, time: Math.floor(state.nextMs / 1000) },
      ...{ finalized_number: state.finalized, part: 0, last_part: 0, events: writer.events },
    }
  }

  function moveTo(nextMs: number): void {
    state.stepS = (nextMs - state.nextMs) / 1000
    state.nextMs = nextMs
    state.number += 1
  }

  return {
    get nextMs() {
      return state.nextMs
    },
    get state() {
      return state
    },
    advance,
  }
}

function emptyState(startMs: number, venue: Venue): MarketState {
  const nothing = newToken({ address: '', symbol: '', name: '', decimals: 0, supply: 0n }, 1)
  const nowhere = newPool({
    ...{ address: '', amm: '', router: '', feeBps: 0n, base: nothing, quote: nothing, baseIs0: true },
    ...{ baseReserve: 0n, quoteReserve: 0n, provider: 0 },
  })
  const firstMs = Math.ceil(startMs / venue.blockMs) * venue.blockMs
  const wallets = Array.from({ length: SLOT.end }, (_, slot) => slot)
  return {
    ...{
      number: venue.heightAtEpoch + Math.floor(firstMs / venue.blockMs),
      nextMs: firstMs,
      stepS: 0,
      head: { number: 0, hash: '' },
      recent: [],
      finalized: 0,
    },
    ...{
      wallets,
      nextWallet: SLOT.end,
      nextToken: 0,
      nextPool: 0,
      native: nothing,
      anchor: nothing,
      tokens: [],
      pools: [],
    },
    ...{
      weights: [],
      launches: [],
      graduates: [],
      rivals: { first: nowhere, second: nowhere, movedMs: 0, restMs: 0 },
      hollow: nowhere,
    },
    ...{
      guest: null,
      flagshipSwapMs: 0,
      flagshipLiquidityMs: 0,
      launchedMs: 0,
      leaders: [],
      turn: 0,
      isCaughtUp: false,
      forks: 0,
      repeatsTo: 0,
      fork: null,
    },
  }
}

/** The first pair a market opens: the native coin against the anchor. */
export function flagshipAddress(book: AddressBook): string {
  return book('pool', 0)
}
