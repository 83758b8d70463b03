/** A candle computed again from the trades of its bucket, by the rules of docs/data.md. */
import type { Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import { rawToNumber } from '../views/field-formats.js'
import type { Bar, Category } from './candle-bars.js'

export const FIGURES = ['open', 'first', 'high', 'low', 'close', 'volume'] as const
export type CandleFigures = Record<(typeof FIGURES)[number], number>

const PRICE = { u: 'price_usd', m: 'price_native', r: 'price_quote' } as const satisfies Record<Category, keyof Trade>

/**
 * `before`: the last bar before the bucket, which the candle opens at. `trades`: all of the bucket. Undefined: no trade of the
 * bucket has a price in this currency, and none before has one.
 */
export function recomputeCandle(
  trades: readonly Placed<Trade>[],
  category: Category,
  before: Bar | undefined,
  quoteDecimals: number | null,
): CandleFigures | undefined {
  const prices = trades.flatMap((trade) => goodPrice(trade, category) ?? [])
  const [first = Number.NaN] = prices
  const open = before?.close ?? first
  if (Number.isNaN(open)) return undefined
  return {
    open,
    first,
    high: prices.reduce((highest, price) => Math.max(highest, price), open),
    low: prices.reduce((lowest, price) => Math.min(lowest, price), open),
    close: prices.at(-1) ?? open,
    volume: volumeOf(trades, category, quoteDecimals),
  }
}

/** Flagged trades (dust, outliers, unpriced ones) set no price. */
function goodPrice(trade: Trade, category: Category): number | undefined {
  const price = trade[PRICE[category]]
  return trade.flags !== 0 || Number.isNaN(price) ? undefined : price
}

/** Each block's sum first, then the sum of blocks: another order has another last bit. */
function volumeOf(trades: readonly Placed<Trade>[], category: Category, quoteDecimals: number | null): number {
  let volume = 0
  let ofBlock = 0
  let block = trades[0]?.blockNumber
  for (const trade of trades) {
    if (trade.blockNumber !== block) {
      volume += ofBlock
      ofBlock = 0
      block = trade.blockNumber
    }
    const amount = amountOf(trade, category, quoteDecimals)
    if (!Number.isNaN(amount)) ofBlock += amount
  }
  return volume + ofBlock
}

function amountOf(trade: Trade, category: Category, quoteDecimals: number | null): number {
  if (category === 'u') return trade.amount_usd
  if (category === 'm') return trade.amount_native
  return rawToNumber(trade.sell ? trade.amount_out : trade.amount_in, quoteDecimals)
}
