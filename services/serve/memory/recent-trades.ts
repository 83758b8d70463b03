import type { Window } from '../../core/domain/packed-windows.js'
import { eventsOf, type PairEvents } from '../../core/domain/pair-events.js'
import type { BlockUpdate, PairUpdate, Trade } from '../../core/domain/records.js'
import { rawToNumber } from '../views/field-formats.js'
import { PairTrades, type TimedPrice, UNKNOWN_TIME_S, type UnreadTrades } from './pair-trades.js'
import { COUNTED_WINDOW_S, createWalletIds, WindowTally } from './windows.js'

/** Trades older than this before the final chain time are in no window, whatever a reorg may still remove. */
export const KEPT_S = COUNTED_WINDOW_S['5m']
const SWEEP_EVERY_S = 60
/** Beyond this the oldest are read: a read trade takes 64 bytes, an unread one keeps its update in memory. */
const MOST_UNREAD_BYTES = 32_000_000
/** Deeper blocks cannot be reorged even if finality lags: aggregate keeps no more undo data. */
const MAX_OPEN_BLOCKS = 1024

/** A trade with its block's number and time. */
export type TradeFacts = {
  timeS: number
  block: number
  sell: boolean
  wallet: string
  amountIn: string
  amountOut: string
  amountUsd: number
  priceUsd: number
  flags: number
}

/** The fields of a pair that windows need. */
export type RestingPair = { pair: string; price_usd: number }

/** Decimals of a pair's target token; null: unknown; undefined: unknown pair. */
export type TargetDecimals = (pair: string) => number | null | undefined

/** The trades of a chain's last minutes; the 1m and 5m windows are counted from them on request, and read then if they were not. */
export interface RecentTrades {
  /** Applies an update after its pairs and tokens are in the state. */
  apply(update: BlockUpdate, targetDecimals: TargetDecimals): void
  /** Restores the chain time of the last final block from the store. */
  restoreFinal(finalNowS: number): void
  /** Restores a pair's stored trades, in event order, and the last good price before them. */
  restore(pair: string, trades: readonly TradeFacts[], before: TimedPrice | null, decimals: number | null): void
  pairWindow(pair: RestingPair, lengthS: number, nowS: number): Window
  /** Over the pairs whose target is the token; the price before is the main pair's. */
  tokenWindow(pairs: readonly string[], mainPair: RestingPair | undefined, lengthS: number, nowS: number): Window
  clear(): void
  /** Chain time of the last final block; 0: unknown. */
  readonly finalNowS: number
  /** Trades kept. */
  readonly size: number
}

export function createRecentTrades(): RecentTrades {
  const byPair = new Map<string, PairTrades>()
  /** Pairs with trades; the others only keep a price. */
  const keeping = new Set<PairTrades>()
  const wallets = createWalletIds()
  /** Blocks that are not final, each with the chain time after it. */
  const openBlocks: { number: number; nowS: number }[] = []
  let finalNowS = 0
  let nextSweepS = 0
  /** In the order they came; those before `firstWaiting` are read. */
  let waiting: { kept: PairTrades; unread: UnreadTrades; bytes: number }[] = []
  let firstWaiting = 0
  let waitingBytes = 0

  function noteBlock(update: BlockUpdate): void {
    while ((openBlocks.at(-1)?.number ?? -1) >= update.number) openBlocks.pop()
    openBlocks.push({ number: update.number, nowS: update.now })
    for (;;) {
      const oldest = openBlocks[0]
      if (oldest === undefined) return
      if (oldest.number > update.finalized_number && openBlocks.length <= MAX_OPEN_BLOCKS) return
      finalNowS = Math.max(finalNowS, oldest.nowS)
      openBlocks.shift()
    }
  }

  function open(pair: string): PairTrades {
    const known = byPair.get(pair)
    if (known !== undefined) return known
    const opened = new PairTrades()
    byPair.set(pair, opened)
    return opened
  }

  function push(kept: PairTrades, trade: TradeFacts, decimals: number | null, nowS: number): void {
    const { timeS, block, sell, amountUsd } = trade
    const amountTarget = rawToNumber(sell ? trade.amountIn : trade.amountOut, decimals)
    const goodPriceUsd = trade.flags === 0 ? trade.priceUsd : Number.NaN
    const walletId = wallets.use(trade.wallet)
    kept.push({ timeS, block, sell, amountUsd, amountTarget, goodPriceUsd, walletId }, nowS)
    keeping.add(kept)
  }

  function take(update: BlockUpdate, entry: PairUpdate, events: PairEvents, decimals: number | null): void {
    const kept = open(entry.pair)
    const { time: timeS, number: block, now } = update
    const { last_price_usd: priceBeforeUsd, price_usd: priceAfterUsd } = entry
    const seenS = kept.seenAt(timeS, now)
    const unread = { events, timeS, block, seenS, decimals, priceBeforeUsd, priceAfterUsd }
    kept.unread.push(unread)
    keeping.add(kept)
    waiting.push({ kept, unread, bytes: events.bytes })
    waitingBytes += events.bytes
    while (waitingBytes > MOST_UNREAD_BYTES && readOldest());
  }

  /** False if none is left. Those of its pair that came before are read already. */
  function readOldest(): boolean {
    const oldest = waiting[firstWaiting]
    if (oldest === undefined) return false
    if (oldest.unread.events !== null) readFirst(oldest.kept)
    waitingBytes -= oldest.bytes
    firstWaiting += 1
    return true
  }

  /** What was read or dropped since must not keep its update in memory. */
  function dropRead(): void {
    while (waiting[firstWaiting]?.unread.events === null) readOldest()
    waiting = waiting.slice(firstWaiting)
    firstWaiting = 0
  }

  function readFirst(kept: PairTrades): void {
    const next = kept.unread.shift()
    if (next?.events == null) return
    const { events, timeS, block, seenS, decimals, priceBeforeUsd } = next
    // The update carries the price before its trades: memory loaded from the store may be ahead of the update.
    if (!kept.hasGood) kept.before ??= { timeS: UNKNOWN_TIME_S, priceUsd: priceBeforeUsd }
    for (const trade of events.trades) push(kept, factsOf(trade, timeS, block), decimals, seenS)
    next.events = null
  }

  function readAll(kept: PairTrades): void {
    while (kept.unread.length > 0) readFirst(kept)
  }

  /** With all its trades read. */
  function tradesOf(pair: string): PairTrades | undefined {
    const kept = byPair.get(pair)
    if (kept !== undefined) readAll(kept)
    return kept
  }

  function retract({ number, retracted }: BlockUpdate): void {
    for (const { pair, gone } of retracted) {
      const kept = byPair.get(pair)
      if (kept === undefined) continue
      readAll(kept)
      // Retracted ids are those of blocks above the new head.
      kept.removeAbove(gone ? Number.NEGATIVE_INFINITY : number, wallets.release)
      if (kept.isEmpty) keeping.delete(kept)
      if (gone) byPair.delete(pair)
    }
  }

  function sweep(): void {
    if (finalNowS < nextSweepS) return
    nextSweepS = finalNowS + SWEEP_EVERY_S
    for (const kept of keeping) {
      kept.dropOlderThan(finalNowS - KEPT_S, wallets.release, () => readFirst(kept))
      if (kept.isEmpty) keeping.delete(kept)
    }
    dropRead()
  }

  function priceBefore({ pair, price_usd }: RestingPair, sinceS: number): number {
    const kept = tradesOf(pair)
    const last = kept?.lastGood(sinceS) ?? null
    if (last !== null) return last.priceUsd
    // No good price is kept: the pair's last good price is older.
    return kept?.hasGood ? Number.NaN : price_usd
  }

  return {
    apply(update, targetDecimals) {
      retract(update)
      for (const entry of update.pairs) {
        const events = eventsOf(entry)
        const decimals = events.tradeCount === 0 ? undefined : targetDecimals(entry.pair)
        if (decimals !== undefined) take(update, entry, events, decimals)
      }
      noteBlock(update)
      sweep()
    },
    restoreFinal(restoredS) {
      finalNowS = restoredS
    },
    restore(pair, trades, before, decimals) {
      const kept = open(pair)
      kept.before = before
      for (const trade of trades) push(kept, trade, decimals, trade.timeS)
    },
    pairWindow(pair, lengthS, nowS) {
      const tally = new WindowTally()
      tradesOf(pair.pair)?.count(nowS - lengthS, tally)
      return tally.window(priceBefore(pair, nowS - lengthS))
    },
    tokenWindow(pairs, mainPair, lengthS, nowS) {
      const tally = new WindowTally()
      // By address, not as they came: after a restart the sums have the same order.
      const traded = pairs.filter((pair) => byPair.get(pair)?.isEmpty === false).sort()
      for (const pair of traded) tradesOf(pair)?.count(nowS - lengthS, tally)
      return tally.window(mainPair === undefined ? Number.NaN : priceBefore(mainPair, nowS - lengthS))
    },
    clear() {
      byPair.clear()
      keeping.clear()
      wallets.clear()
      openBlocks.length = 0
      waiting = []
      firstWaiting = 0
      waitingBytes = 0
      finalNowS = 0
      nextSweepS = 0
    },
    get finalNowS() {
      return finalNowS
    },
    get size() {
      let size = 0
      for (const kept of keeping) size += kept.countAll()
      return size
    },
  }
}

/** Field by field: an object built with spreads is slow to build and to read. */
function factsOf(trade: Trade, timeS: number, block: number): TradeFacts {
  return {
    timeS,
    block,
    sell: trade.sell,
    wallet: trade.wallet,
    amountIn: trade.amount_in,
    amountOut: trade.amount_out,
    amountUsd: trade.amount_usd,
    priceUsd: trade.price_usd,
    flags: trade.flags,
  }
}
