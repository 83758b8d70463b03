/** Rolling windows by filtering every trade. */
import { WINDOWS, type WindowName } from '../../../services/core/domain/chains.js'
import type { Window } from '../../../services/core/domain/packed-windows.js'
import { isGood, type ReferenceTrade } from './book.js'

/** Bucket length in seconds, and the number of buckets including the current one. */
export const WINDOW_BUCKETS: Record<WindowName, { bucketS: number; count: number }> = {
  '1m': { bucketS: 1, count: 60 },
  '5m': { bucketS: 1, count: 300 },
  '15m': { bucketS: 60, count: 15 },
  '1h': { bucketS: 60, count: 60 },
  '4h': { bucketS: 60, count: 240 },
  '24h': { bucketS: 60, count: 1440 },
}

export function isInWindow(name: WindowName, time: number, now: number): boolean {
  const { bucketS, count } = WINDOW_BUCKETS[name]
  return Math.floor(time / bucketS) > Math.floor(now / bucketS) - count
}

/** All six, in the order of WINDOWS. `mainTrades`: the trades whose prices `price_before` comes from. */
export function windowsOf(trades: readonly ReferenceTrade[], now: number, mainTrades = trades): Window[] {
  return WINDOWS.map((name) => windowOf(name, trades, now, mainTrades))
}

function windowOf(
  name: WindowName,
  trades: readonly ReferenceTrade[],
  now: number,
  mainTrades: readonly ReferenceTrade[],
): Window {
  const inside = trades.filter((trade) => isInWindow(name, trade.time, now))
  const buys = inside.filter((trade) => !trade.sell)
  const sells = inside.filter((trade) => trade.sell)
  const good = inside.filter(isGood).map((trade) => trade.price_usd)
  return {
    buy_volume: sum(buys.map((trade) => trade.amount_usd)),
    sell_volume: sum(sells.map((trade) => trade.amount_usd)),
    buys: buys.length,
    sells: sells.length,
    buyers: distinctWallets(buys),
    sellers: distinctWallets(sells),
    makers: distinctWallets(inside),
    amount: sum(inside.map((trade) => trade.target_amount)),
    high: good.length === 0 ? Number.NaN : good.reduce((a, b) => Math.max(a, b)),
    low: good.length === 0 ? Number.NaN : good.reduce((a, b) => Math.min(a, b)),
    price_before: priceBefore(name, mainTrades, now),
  }
}

function priceBefore(name: WindowName, trades: readonly ReferenceTrade[], now: number): number {
  const bucket = (trade: ReferenceTrade): number => Math.floor(trade.time / WINDOW_BUCKETS[name].bucketS)
  const before = trades.filter((trade) => isGood(trade) && !isInWindow(name, trade.time, now))
  const lastBucket = before.reduce((latest, trade) => Math.max(latest, bucket(trade)), Number.NEGATIVE_INFINITY)
  return before.findLast((trade) => bucket(trade) === lastBucket)?.price_usd ?? Number.NaN
}

const distinctWallets = (trades: readonly ReferenceTrade[]): number =>
  new Set(trades.map((trade) => trade.wallet).filter((wallet) => wallet !== '')).size

/** Unknown values add nothing. */
export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => (Number.isNaN(value) ? total : total + value), 0)
