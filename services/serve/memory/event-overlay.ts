import { eventsOf, type PairEvents } from '../../core/domain/pair-events.js'
import type { BlockUpdate, LiquidityTrade, Trade } from '../../core/domain/records.js'
import { isAtOrBefore, type Position } from './candle-overlay.js'

/** `storedUpToBlock` where no stored row is in doubt. */
export const EVERYTHING = Number.MAX_SAFE_INTEGER

/** An event with its block. */
export type Placed<Event> = Event & { blockNumber: number; timeS: number }
export type PairTrade = Trade & { pair: string }
export type MainPairChangeAt = { blockNumber: number; timeS: number; pair: string | null }

/** Trades, liquidity and main pairs of blocks not flushed yet: history merges them into the stored rows. */
export interface EventOverlay {
  apply(update: BlockUpdate): void
  /** Stored rows of blocks above this one are orphaned or also in this overlay. */
  readonly storedUpToBlock: number
  trades(pair: string): Placed<Trade>[]
  liquidity(pair: string): Placed<LiquidityTrade>[]
  walletTrades(wallet: string): Placed<PairTrade>[]
  /** Of the first kept block with events: stored rows of earlier blocks are not in this overlay. */
  readonly firstBlock: number | undefined
  mainPairs(token: string): MainPairChangeAt[]
  /** Drops what the store has flushed. */
  trim(flushed: Position): void
  clear(): void
  /** Blocks kept. */
  readonly size: number
}

type Block = Position & {
  number: number
  timeS: number
  /** A pair with many events in one block has several entries. */
  pairs: Map<string, PairEvents | PairEvents[]>
  mainPairs: Map<string, string | null>
}

export function createEventOverlay(): EventOverlay {
  /** In chain order. */
  let blocks: Block[] = []
  let retracts: (Position & { toBlock: number })[] = []
  let flushed: Position = { epoch: -1, seq: -1 }

  function retract({ epoch, seq, number }: BlockUpdate): void {
    while ((blocks.at(-1)?.number ?? -1) > number) blocks.pop()
    retracts.push({ epoch, seq, toBlock: number })
  }

  /** The events `pick` selects from all kept blocks, each with its block. */
  function placed<Event extends object>(pick: (block: Block) => readonly Event[] | undefined): Placed<Event>[] {
    return blocks.flatMap((block) =>
      (pick(block) ?? []).map((event) => ({ ...event, blockNumber: block.number, timeS: block.timeS })),
    )
  }

  return {
    apply(update) {
      if (isAtOrBefore(update, flushed)) return
      if (update.kind === 'retract') return retract(update)
      const { epoch, seq, number, time } = update
      const pairs = eventsByPair(update)
      const mainPairs = new Map(update.main_pair_changes.map(({ token, new_pair }) => [token, new_pair]))
      if (pairs.size + mainPairs.size > 0) blocks.push({ epoch, seq, number, timeS: time, pairs, mainPairs })
    },
    get storedUpToBlock() {
      return Math.min(EVERYTHING, ...retracts.map(({ toBlock }) => toBlock))
    },
    trades: (pair) => placed((block) => entriesOf(block, pair).flatMap(({ trades }) => trades)),
    liquidity: (pair) => placed((block) => entriesOf(block, pair).flatMap(({ liquidity }) => liquidity)),
    walletTrades: (wallet) => placed((block) => tradesOf(block, wallet)),
    get firstBlock() {
      return blocks[0]?.number
    },
    mainPairs: (token) =>
      placed((block) => (block.mainPairs.has(token) ? [{ pair: block.mainPairs.get(token) ?? null }] : undefined)),
    trim(to) {
      if (isAtOrBefore(to, flushed)) return
      flushed = to
      blocks = blocks.filter((block) => !isAtOrBefore(block, flushed))
      retracts = retracts.filter((one) => !isAtOrBefore(one, flushed))
    },
    clear() {
      blocks = []
      retracts = []
    },
    get size() {
      return blocks.length
    },
  }
}

function entriesOf({ pairs }: Block, pair: string): PairEvents[] {
  const events = pairs.get(pair) ?? []
  return Array.isArray(events) ? events : [events]
}

function tradesOf(block: Block, wallet: string): PairTrade[] {
  const found: PairTrade[] = []
  for (const pair of block.pairs.keys())
    for (const { trades } of entriesOf(block, pair))
      for (const trade of trades) if (trade.wallet === wallet) found.push({ ...trade, pair })
  return found
}

function eventsByPair(update: BlockUpdate): Block['pairs'] {
  const byPair: Block['pairs'] = new Map()
  for (const entry of update.pairs) {
    const events = eventsOf(entry)
    if (events.tradeCount + events.liquidityCount === 0) continue
    const known = byPair.get(entry.pair)
    byPair.set(entry.pair, known === undefined ? events : [known, events].flat())
  }
  return byPair
}
