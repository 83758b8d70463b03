/** What one block does to one pair, gathered over its events and merged into the candles at the block's end. */

import type { LiquidityTrade, Trade } from '../../core/domain/records.js'

/** first, high, low, close, volume of one currency. */
export type CurrencySums = { first: number; high: number; low: number; close: number; volume: number }

export class BlockPair {
  readonly currencies: [CurrencySums, CurrencySums, CurrencySums] = [emptySums(), emptySums(), emptySums()]
  buyVolume = 0
  sellVolume = 0
  buys = 0
  sells = 0
  amount = 0
  readonly trades: Trade[] = []
  readonly liquidity: LiquidityTrade[] = []
  isNew = false

  constructor(
    readonly id: number,
    readonly lastPriceUsd: number,
  ) {}

  /** `quoteAmount` and `targetAmount` are NaN if decimals are unknown, and then add nothing. */
  addTrade(trade: Trade, quoteAmount: number, targetAmount: number): void {
    this.trades.push(trade)
    const usd = known(trade.amount_usd)
    if (trade.sell) {
      this.sells += 1
      this.sellVolume += usd
    } else {
      this.buys += 1
      this.buyVolume += usd
    }
    this.amount += known(targetAmount)
    const [u, m, r] = this.currencies
    u.volume += usd
    m.volume += known(trade.amount_native)
    r.volume += known(quoteAmount)
    if (trade.flags !== 0) return
    addPrice(u, trade.price_usd)
    addPrice(m, trade.price_native)
    addPrice(r, trade.price_quote)
  }
}

function emptySums(): CurrencySums {
  return { first: Number.NaN, high: Number.NaN, low: Number.NaN, close: Number.NaN, volume: 0 }
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value
}

function addPrice(sums: CurrencySums, price: number): void {
  if (Number.isNaN(price)) return
  if (Number.isNaN(sums.first)) {
    sums.first = price
    sums.high = price
    sums.low = price
  } else if (price > sums.high) sums.high = price
  else if (price < sums.low) sums.low = price
  sums.close = price
}
