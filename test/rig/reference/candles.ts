/** Candles of one pair by grouping all its trades. */
import type { Interval } from '../../../services/core/domain/chains.js'
import type { Candle } from '../../../services/core/domain/packed-candles.js'
import { isGood, type ReferenceTrade } from './book.js'
import { sum } from './windows.js'

export type ReferenceCandle = Omit<Candle, 'interval' | 'time' | 'removed'>

export const INTERVAL_SECONDS: Record<Interval, number> = {
  s1: 1,
  k1: 60,
  k5: 300,
  k15: 900,
  k30: 1800,
  k60: 3600,
  k120: 7200,
  k240: 14_400,
  k1440: 86_400,
  k10080: 604_800,
}

/** 1970-01-01 was a Thursday: the first Monday came four days later. */
const FIRST_MONDAY = 4 * 86_400

export function bucketStart(interval: Interval, time: number): number {
  const seconds = INTERVAL_SECONDS[interval]
  const offset = interval === 'k10080' ? FIRST_MONDAY : 0
  return Math.floor((time - offset) / seconds) * seconds + offset
}

type Bars = { open: number; first: number; high: number; low: number; close: number; volume: number }

/** One per bucket, by ascending start; `trades` in event order. */
export function candlesOf(trades: readonly ReferenceTrade[], interval: Interval): Map<number, ReferenceCandle> {
  const buckets = new Map<number, ReferenceTrade[]>()
  for (const trade of trades) {
    const start = bucketStart(interval, trade.time)
    const bucket = buckets.get(start)
    if (bucket === undefined) buckets.set(start, [trade])
    else bucket.push(trade)
  }
  const candles = new Map<number, ReferenceCandle>()
  let closes = { u: Number.NaN, m: Number.NaN, r: Number.NaN }
  for (const [start, bucket] of [...buckets].sort(([a], [b]) => a - b)) {
    const u = barsOf(closes.u, bucket, 'price_usd', 'amount_usd')
    const m = barsOf(closes.m, bucket, 'price_native', 'amount_native')
    const r = barsOf(closes.r, bucket, 'price_quote', 'quote_amount')
    if ([u, m, r].every((bars) => Number.isNaN(bars.open))) continue
    closes = { u: u.close, m: m.close, r: r.close }
    candles.set(start, { ...named('u', u), ...named('m', m), ...named('r', r) } as ReferenceCandle)
  }
  return candles
}

type PriceField = 'price_usd' | 'price_native' | 'price_quote'
type AmountField = 'amount_usd' | 'amount_native' | 'quote_amount'

function barsOf(
  previousClose: number,
  bucket: readonly ReferenceTrade[],
  price: PriceField,
  amount: AmountField,
): Bars {
  const good = bucket.filter(isGood).map((trade) => trade[price])
  // While the native coin has no price, a good trade has no native price either.
  const prices = good.filter((value) => !Number.isNaN(value))
  const first = prices[0] ?? Number.NaN
  const open = Number.isNaN(previousClose) ? first : previousClose
  const covered = [open, ...prices]
  return {
    open,
    first,
    high: covered.reduce((a, b) => Math.max(a, b)),
    low: covered.reduce((a, b) => Math.min(a, b)),
    close: prices.at(-1) ?? previousClose,
    volume: sum(bucket.map((trade) => trade[amount])),
  }
}

const named = (currency: 'u' | 'm' | 'r', bars: Bars): Record<string, number> =>
  Object.fromEntries(Object.entries(bars).map(([field, value]) => [`${field}_${currency}`, value]))
