import type { PackedCandle, PackedCandles } from '../../core/domain/packed-candles.js'
import { eventsOf, type PairEvents } from '../../core/domain/pair-events.js'
import type { BlockUpdate, LiquidityTrade, MainPairChange, TokenInfo, Trade } from '../../core/domain/records.js'
import type { OpenCandle } from '../memory/open-candles.js'
import { type ReplayedUpdate, type StateView, viewOf } from '../memory/replay-recent.js'
import { type PairState, targetToken } from '../memory/served-chain.js'
import type { Market } from '../views/market-facts.js'
import { closingNumber } from './cursor.js'

/** A pair right after an update. Immutable. */
export type PairAt = { chain: string; pair: PairState }

/** With the info of its tokens. */
export type PairSnapshot = PairAt & {
  /** Chain time. */
  nowS: number
  info0: TokenInfo
  info1: TokenInfo
  isMainPair: boolean
}

/** A pair's changes in an update; `firstN` is the number of its first push. */
export class PairEntry {
  constructor(
    readonly at: PairSnapshot,
    readonly firstN: number,
    readonly events: PairEvents,
    /** The pair traded, or a reorg removed trades of it. */
    readonly movesPrice: boolean,
  ) {}

  get trades(): readonly Trade[] {
    return this.events.trades
  }

  get liquidity(): readonly LiquidityTrade[] {
    return this.events.liquidity
  }

  get candles(): PackedCandles {
    return this.events.candles.packed
  }
}

/** A candle closed by chain time or removed with its pair, which is as it was right after. */
export type ClosedCandle = { pair: PairState; interval: number; candle: PackedCandle; isGone: boolean }

export type Retraction = {
  pair: string
  ids: readonly string[]
  tokens: readonly string[]
  /** The reorg removed the pair itself. */
  isGone: boolean
  n: number
}

export type MainPairSwitch = { change: MainPairChange; at: PairSnapshot; isPricePushed: boolean; n: number }

/**
 * Everything an update can push, captured when it was applied. Pushes are encoded from this alone, so a replay minutes later
 * gives the same bytes. Numbers count every possible push, subscribed or not: they are the same on every node.
 */
export type UpdateSnapshot = Pick<BlockUpdate, 'chain' | 'epoch' | 'seq' | 'kind' | 'number'> & {
  timeS: number
  nowS: number
  /** In any order. When a minute ends each traded pair has some, and hardly any is subscribed: see `numberClosings`. */
  closings: readonly ClosedCandle[]
  retracted: readonly Retraction[]
  entries: readonly PairEntry[]
  switches: readonly MainPairSwitch[]
  /** Absent: buys of smart wallets are not followed. */
  smartBuys?: { isSignal(chain: string, token: string, pair: string, id: string): boolean }
  /** Number of the last push. */
  lastN: number
  /** Approximate memory size. */
  bytes: number
}

/** Approximate memory size of each part, measured. */
const BYTES = { update: 400, closing: 150, retracted: 100, entry: 1600, trade: 1500, liquidity: 1000, candle: 170 }

export function snapshotUpdate(step: Omit<ReplayedUpdate, 'inexactThrough'>): UpdateSnapshot {
  const { update, removedPairs, view } = step
  const { chain, epoch, seq, kind, number } = update
  const snapshots = new Map<string, PairSnapshot | undefined>()
  let n = 0

  function at(address: string): PairSnapshot | undefined {
    if (!snapshots.has(address)) {
      const pair = view.pair(address) ?? removedPairs.get(address)
      snapshots.set(address, pair && pairSnapshotOf(view, pair, chain, update.now))
    }
    return snapshots.get(address)
  }

  const closings: ClosedCandle[] = []
  function close(candles: readonly OpenCandle[], isGone: boolean): void {
    for (const { pair: address, interval, candle } of candles) {
      const pair = view.pair(address) ?? removedPairs.get(address)
      if (pair !== undefined) closings.push({ pair, interval, candle, isGone })
    }
  }

  close(step.closedCandles, false)
  close(step.removedCandles, true)
  const retracted = update.retracted.map(({ pair, ids, gone: isGone }) => {
    n += 1
    const info = at(pair)?.pair.info
    return { pair, ids, tokens: info === undefined ? [] : [info.token0, info.token1], isGone, n }
  })
  const entries = update.pairs.flatMap((pair) => {
    const firstN = n + 1
    const events = eventsOf(pair)
    const candles = events.candles.count
    // One push per trade, liquidity event and candle, and one for the price.
    n += events.tradeCount + events.liquidityCount + candles + 1
    const movesPrice = events.tradeCount > 0 || (kind === 'retract' && candles > 0)
    // Statistics alone push nothing.
    if (!movesPrice && candles === 0 && events.liquidityCount === 0) return []
    const where = at(pair.pair)
    return where === undefined ? [] : [new PairEntry(where, firstN, events, movesPrice)]
  })
  const pushedPairs = new Set(entries.flatMap(({ at: { pair }, movesPrice }) => (movesPrice ? [pair.pair] : [])))
  const switches = update.main_pair_changes.flatMap((change) => {
    n += 1
    const where = change.new_pair === null || view.pair(change.new_pair) === undefined ? undefined : at(change.new_pair)
    return where === undefined ? [] : [{ change, at: where, isPricePushed: pushedPairs.has(where.pair.pair), n }]
  })
  const head = { chain, epoch, seq, kind, number, timeS: update.time, nowS: update.now }
  return {
    ...head,
    closings,
    retracted,
    entries,
    switches,
    lastN: n,
    bytes: estimateBytes({ closings, retracted, entries }),
  }
}

function pairSnapshotOf(view: StateView, pair: PairState, chain: string, nowS: number): PairSnapshot {
  const { token0, token1 } = pair.info
  const isMainPair = view.mainPair(targetToken(pair.info)) === pair.pair
  return { chain, nowS, pair, info0: view.info(token0), info1: view.info(token1), isMainPair }
}

/** In the order of their pushes, with their numbers, which are after those of the previous update. */
export function numberClosings(closings: readonly ClosedCandle[]): (ClosedCandle & { n: number })[] {
  const numbered = closings.map((one) => ({ ...one, n: closingNumber(one.pair.pair, one.interval) }))
  return numbered.sort((a, b) => a.n - b.n || (a.pair.pair < b.pair.pair ? -1 : 1))
}

/** A pair's current state; undefined for an unknown pair. */
export function snapshotPair(market: Market | undefined, address: string): PairSnapshot | undefined {
  const pair = market?.state.pairs.get(address)
  return market && pair && pairSnapshotOf(viewOf(market.state), pair, market.state.chain, market.state.nowS)
}

function estimateBytes({
  closings,
  retracted,
  entries,
}: Pick<UpdateSnapshot, 'closings' | 'retracted' | 'entries'>): number {
  let bytes = BYTES.update + closings.length * BYTES.closing
  for (const { ids } of retracted) bytes += BYTES.retracted * (1 + ids.length)
  for (const { events } of entries) {
    bytes += BYTES.entry + events.tradeCount * BYTES.trade + events.liquidityCount * BYTES.liquidity
    bytes += events.candles.count * BYTES.candle
  }
  return bytes
}
