import type { LiquidityTrade, MainPairChange, PairUpdate, TokenInfo, Trade, Update } from '../../core/domain/records.js'
import { type PackedCandle, packCandle } from '../memory/packed-candle.js'
import { type ReplayedUpdate, type StateView, viewOf } from '../memory/replay-recent.js'
import { type PairState, targetToken } from '../memory/served-chain.js'
import type { Market } from '../views/market-facts.js'
import { closingNumber } from './cursor.js'

/** A pair right after an update, with what is said of its tokens. Nothing in it changes afterwards. */
export type PairSnapshot = {
  chain: string
  /** The chain's now. */
  nowS: number
  pair: PairState
  info0: TokenInfo
  info1: TokenInfo
  isMainPair: boolean
}

/** A pair's news in an update; `firstN` is the number of its first push. */
export type PairEntry = {
  at: PairSnapshot
  firstN: number
  trades: readonly Trade[]
  liquidity: readonly LiquidityTrade[]
  candles: readonly PackedCandle[]
  /** It traded, or trades of it were taken back. */
  movesPrice: boolean
}

/** A candle that ended: closed by time, or gone with its pair. Its number stands behind those of the update before. */
export type ClosedCandle = { at: PairSnapshot; candle: PackedCandle; isGone: boolean; n: number }

export type Retraction = {
  pair: string
  ids: readonly string[]
  tokens: readonly string[]
  /** The pair itself never was. */
  isGone: boolean
  n: number
}

export type MainPairSwitch = { change: MainPairChange; at: PairSnapshot; isPricePushed: boolean; n: number }

/**
 * Everything an update could push, as it was then: pushes are encoded from this alone, so that encoded minutes later they
 * are the same. Numbers count every push the update could make, whoever listens: they mean the same on every node.
 */
export type UpdateSnapshot = Pick<Update, 'chain' | 'epoch' | 'seq' | 'kind' | 'number'> & {
  timeS: number
  nowS: number
  closings: readonly ClosedCandle[]
  retracted: readonly Retraction[]
  entries: readonly PairEntry[]
  switches: readonly MainPairSwitch[]
  /** The number of its last push. */
  lastN: number
  /** About what it costs to keep. */
  bytes: number
}

/** What the parts of a update weigh, measured roughly. */
const BYTES = { update: 400, closing: 150, retracted: 100, entry: 1600, trade: 1500, liquidity: 1000, candle: 170 }

export function snapshotUpdate(step: Omit<ReplayedUpdate, 'isFirst'>): UpdateSnapshot {
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

  const closings = [...step.closedCandles, ...step.removedCandles].flatMap(({ pair, candle }, index) => {
    const where = at(pair)
    const isGone = index >= step.closedCandles.length
    return where === undefined ? [] : [{ at: where, candle, isGone, n: closingNumber(pair, candle) }]
  })
  closings.sort((a, b) => a.n - b.n || (a.at.pair.pair < b.at.pair.pair ? -1 : 1))
  const retracted = update.retracted.map(({ pair, ids, gone: isGone }) => {
    n += 1
    const info = at(pair)?.pair.info
    return { pair, ids, tokens: info === undefined ? [] : [info.token0, info.token1], isGone, n }
  })
  const entries = update.pairs.flatMap((pair) => {
    const firstN = n + 1
    n += countOf(pair)
    const movesPrice = pair.trades.length > 0 || (kind === 'retract' && pair.candles.length > 0)
    // Statistics alone push nothing.
    if (!movesPrice && pair.candles.length === 0 && pair.liquidity.length === 0) return []
    const where = at(pair.pair)
    if (where === undefined) return []
    const { trades, liquidity } = pair
    return [{ at: where, firstN, trades, liquidity, candles: pair.candles.map(packCandle), movesPrice }]
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

/** A pair as it is now; undefined where nobody described it. */
export function snapshotPair(market: Market | undefined, address: string): PairSnapshot | undefined {
  const pair = market?.state.pairs.get(address)
  return market && pair && pairSnapshotOf(viewOf(market.state), pair, market.state.chain, market.state.nowS)
}

/** Each trade, each liquidity event, each candle, and the price. */
function countOf({ trades, liquidity, candles }: PairUpdate): number {
  return trades.length + liquidity.length + candles.length + 1
}

function estimateBytes({
  closings,
  retracted,
  entries,
}: Pick<UpdateSnapshot, 'closings' | 'retracted' | 'entries'>): number {
  let bytes = BYTES.update + closings.length * BYTES.closing
  for (const { ids } of retracted) bytes += BYTES.retracted * (1 + ids.length)
  for (const { trades, liquidity, candles } of entries) {
    bytes += BYTES.entry + trades.length * BYTES.trade + liquidity.length * BYTES.liquidity
    bytes += candles.length * BYTES.candle
  }
  return bytes
}
