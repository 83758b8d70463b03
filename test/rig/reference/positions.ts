/** Positions of wallets from the list of all surviving trades, trade by trade. */
import { powerOfTen } from './amounts.js'
import type { Reference } from './recompute.js'

export type ReferencePosition = {
  buys: number
  sells: number
  /** Raw. */
  bought: bigint
  sold: bigint
  buyUsd: number
  sellUsd: number
  maxBuyUsd: number
  maxSellUsd: number
  avgPurchase: number
  avgSale: number
  realized: number
  unrealized: number
  total: number
  totalRatio: number
  fifoRealized: number
  fifoUnrealized: number
  lastTime: number
  balance: bigint | null
}

export type ReferenceWalletTrade = Reference['trades'][number]

export const walletsOf = ({ trades }: Reference): string[] => [
  ...new Set(trades.map(({ wallet }) => wallet).filter((wallet) => wallet !== '')),
]

/** By time, then in chain order. */
export function walletTrades({ trades }: Reference, wallet: string): ReferenceWalletTrade[] {
  const order = new Map(trades.map((trade, at) => [trade, at]))
  return trades
    .filter((trade) => trade.wallet === wallet)
    .sort((a, b) => a.time - b.time || (order.get(a) ?? 0) - (order.get(b) ?? 0))
}

/** Each token the wallet traded as a target, or holds. */
export function positionsOf(reference: Reference, wallet: string): Map<string, ReferencePosition> {
  const targetOf = (pair: string) => reference.pairs.get(pair)?.target_token ?? ''
  const own = walletTrades(reference, wallet)
  const held = [...reference.holders].flatMap(([key, balance]) => {
    const [token = '', holder] = key.split('|')
    return holder === wallet && balance > 0n ? [token] : []
  })
  const tokens = new Set([...own.map(({ pair }) => targetOf(pair)), ...held])
  return new Map(
    [...tokens].map((token) => [
      token,
      positionIn(
        token,
        own.filter(({ pair }) => targetOf(pair) === token),
      ),
    ]),
  )

  function positionIn(token: string, trades: ReferenceWalletTrade[]): ReferencePosition {
    const facts = reference.tokens.get(token)
    const unit = facts?.decimals === null || facts === undefined ? Number.NaN : powerOfTen(facts.decimals)
    const price = facts?.price_usd ?? Number.NaN
    const known = reference.holders.get(`${token}|${wallet}`)
    const balance = (facts?.holders ?? 0) > 0 || (known ?? 0n) > 0n ? (known ?? 0n) : null
    const side = (sell: boolean) => {
      const list = trades.filter((trade) => trade.sell === sell)
      const rawOf = (trade: ReferenceWalletTrade) => BigInt(sell ? trade.amount_in : trade.amount_out)
      const priced = list.filter(({ amount_usd }) => !Number.isNaN(amount_usd))
      const raw = list.reduce((sum, trade) => sum + rawOf(trade), 0n)
      const pricedRaw = priced.reduce((sum, trade) => sum + rawOf(trade), 0n)
      const usd = priced.reduce((sum, { amount_usd }) => sum + amount_usd, 0)
      const maxUsd = list.length === 0 ? Number.NaN : Math.max(0, ...priced.map(({ amount_usd }) => amount_usd))
      return { count: list.length, raw, usd, maxUsd, average: usd / (Number(pricedRaw) / unit) }
    }
    const [buys, sells] = [side(false), side(true)]
    const amount = (raw: bigint) => (raw === 0n ? 0 : Number(raw) / unit)
    const [bought, sold] = [amount(buys.raw), amount(sells.raw)]
    const matched = Math.min(bought, sold)
    const positive = balance !== null && balance > 0n ? balance : 0n
    const kept = Math.min(Math.max(bought - sold, 0), balance === null ? Number.POSITIVE_INFINITY : amount(positive))
    const realized = buys.count === 0 ? Number.NaN : matched === 0 ? 0 : matched * (sells.average - buys.average)
    const unrealized = buys.count === 0 ? Number.NaN : kept === 0 ? 0 : kept * (price - buys.average)
    return {
      ...{ buys: buys.count, sells: sells.count, bought: buys.raw, sold: sells.raw },
      ...{ buyUsd: buys.usd, sellUsd: sells.usd, maxBuyUsd: buys.maxUsd, maxSellUsd: sells.maxUsd },
      ...{ avgPurchase: buys.average, avgSale: sells.average, realized, unrealized, total: realized + unrealized },
      totalRatio: (realized + unrealized) / ((matched + kept) * buys.average),
      ...fifo(trades, unit, price),
      lastTime: Math.max(0, ...trades.map(({ time }) => time)),
      balance: balance === null ? null : positive,
    }
  }
}

/** Every unit bought waits in a queue with its price; a sale takes from the front. */
function fifo(trades: ReferenceWalletTrade[], unit: number, price: number) {
  let queue: { raw: bigint; paid: number }[] = []
  let realized = 0
  let hasBought = false
  for (const { sell, amount_in, amount_out, amount_usd } of trades) {
    const raw = BigInt(sell ? amount_in : amount_out)
    const each = amount_usd / (Number(raw) / unit)
    if (!sell) {
      if (raw > 0n) queue.push({ raw, paid: each })
      hasBought ||= raw > 0n
      continue
    }
    let left = raw
    queue = queue.flatMap((lot) => {
      const isWhole = left > lot.raw
      const taken = isWhole ? lot.raw : left
      left -= taken
      const gain = (Number(taken) / unit) * (each - lot.paid)
      if (taken > 0n && !Number.isNaN(gain)) realized += gain
      return lot.raw > taken ? [{ ...lot, raw: lot.raw - taken }] : []
    })
  }
  const gains = queue
    .map(({ raw, paid }) => (Number(raw) / unit) * (price - paid))
    .filter((gain) => !Number.isNaN(gain))
  const fifoUnrealized = gains.reduce((sum, gain) => sum + gain, 0)
  return hasBought
    ? { fifoRealized: realized, fifoUnrealized }
    : { fifoRealized: Number.NaN, fifoUnrealized: Number.NaN }
}
