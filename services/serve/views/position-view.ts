import { powerOfTen } from '../../core/domain/money.js'
import type { TradeSums } from '../history/wallet-sums.js'
import type { WalletTrade } from '../history/wallet-trades.js'

/** What a wallet made of a token, by average cost. All in USD and whole tokens; NaN: unknown. */
export type Profit = {
  bought: number
  sold: number
  avgPurchase: number
  avgSale: number
  realized: number
  unrealized: number
  total: number
  /** Of what the matched part, the kept part and both cost. */
  realizedRatio: number
  unrealizedRatio: number
  totalRatio: number
}

export type Holding = {
  decimals: number | null
  priceUsd: number
  /** Whole tokens; undefined: no balance of this token is known, so all that was bought and not sold counts as kept. */
  balance: number | undefined
}

/** Raw amounts are exact, or the doubles that the store adds up. */
type Side = { count: number; amount: bigint | number; priced: bigint | number; usd: number }
type ProfitSums = Record<keyof TradeSums, Side>

/** Only what was seen bought has a cost: `matched` was sold again, `kept` may still be held. */
export function profitOf({ buys, sells }: ProfitSums, { decimals, priceUsd, balance }: Holding): Profit {
  const unit = powerOfTen(decimals ?? Number.NaN)
  // Zero needs no decimals.
  const amountOf = (raw: bigint | number): number => (Number(raw) === 0 ? 0 : Number(raw) / unit)
  const [bought, sold] = [amountOf(buys.amount), amountOf(sells.amount)]
  const avgPurchase = buys.usd / amountOf(buys.priced)
  const avgSale = sells.usd / amountOf(sells.priced)
  const isKnown = buys.count > 0
  const matched = Math.min(bought, sold)
  const kept = Math.min(Math.max(bought - sold, 0), balance ?? Number.POSITIVE_INFINITY)
  const realized = !isKnown ? Number.NaN : matched === 0 ? 0 : matched * (avgSale - avgPurchase)
  const unrealized = !isKnown ? Number.NaN : kept === 0 ? 0 : kept * (priceUsd - avgPurchase)
  return {
    bought,
    sold,
    avgPurchase,
    avgSale,
    realized,
    unrealized,
    total: realized + unrealized,
    realizedRatio: realized / (matched * avgPurchase),
    unrealizedRatio: unrealized / (kept * avgPurchase),
    totalRatio: (realized + unrealized) / ((matched + kept) * avgPurchase),
  }
}

/** The same by first in, first out: each sale uses up the oldest purchases that are left. */
export type FifoProfit = { realized: number; unrealized: number }

/** `trades` in order, all of one target token. A sale of what was not seen bought, or a part without a USD value, counts for nothing. */
export function fifoProfit(
  trades: readonly WalletTrade[],
  { decimals, priceUsd }: Omit<Holding, 'balance'>,
): FifoProfit {
  const unit = powerOfTen(decimals ?? Number.NaN)
  const lots: { raw: bigint; priceUsd: number }[] = []
  let first = 0
  let realized = 0
  for (const { sell, amount_in, amount_out, amount_usd } of trades) {
    let raw = BigInt(sell ? amount_in : amount_out)
    if (raw === 0n) continue
    const unitUsd = amount_usd / (Number(raw) / unit)
    if (!sell) {
      lots.push({ raw, priceUsd: unitUsd })
      continue
    }
    while (raw > 0n && first < lots.length) {
      const lot = lots[first] as { raw: bigint; priceUsd: number }
      const isPart = raw < lot.raw
      const used = isPart ? raw : lot.raw
      const gain = (Number(used) / unit) * (unitUsd - lot.priceUsd)
      if (!Number.isNaN(gain)) realized += gain
      raw -= used
      lot.raw -= used
      if (lot.raw === 0n) first += 1
    }
  }
  let unrealized = 0
  for (const lot of lots.slice(first)) {
    const gain = (Number(lot.raw) / unit) * (priceUsd - lot.priceUsd)
    if (!Number.isNaN(gain)) unrealized += gain
  }
  return lots.length === 0 ? { realized: Number.NaN, unrealized: Number.NaN } : { realized, unrealized }
}
