/** The ranking of wallets by realised profit, from the list of all surviving trades. */
import type { Reference } from './recompute.js'

export type ReferenceSmartWallet = {
  wallet: string
  profit: number
  rate: number
  bought: number
  sold: number
  trades: number
  closed: number
  wins: number
  /** Profit of each closed token as a share of its cost. */
  rates: number[]
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

export function smartWallets(reference: Reference, days: number, money: readonly string[]): ReferenceSmartWallet[] {
  const { now, pairs, liquidity } = reference
  const targetOf = (pair: string) => pairs.get(pair)?.target_token ?? ''
  const inWindow = reference.trades.filter(
    ({ time, flags }) => time > now - days * 86_400 && time <= now && flags === 0,
  )
  const volumes = new Map(
    [...grouped(inWindow, ({ pair }) => pair)].map(([pair, trades]) => [
      pair,
      sum(trades.map((one) => one.amount_usd)),
    ]),
  )
  const funded = new Set(liquidity.map(({ wallet, pair }) => `${wallet} ${pair}`))
  const counted = [...grouped(inWindow, ({ wallet, pair }) => `${wallet} ${pair}`)].flatMap(([key, trades]) => {
    const [first] = trades
    if (first === undefined || first.wallet === '' || money.includes(targetOf(first.pair)) || funded.has(key)) return []
    if (sum(trades.map((one) => one.amount_usd)) > (volumes.get(first.pair) ?? 0) / 2) return []
    const blocks = [...grouped(trades, (one) => String(one.block_number)).values()]
    return blocks.filter((block) => new Set(block.map(({ sell }) => sell)).size === 1).flat()
  })
  const found = [...grouped(counted, ({ wallet }) => wallet)].map(([wallet, trades]) => {
    const tokens = [...grouped(trades, ({ pair }) => targetOf(pair)).values()].map((own) => {
      const side = (sell: boolean) => own.filter((one) => one.sell === sell)
      const amount = (sell: boolean) => sum(side(sell).map((one) => Number(sell ? one.amount_in : one.amount_out)))
      const usd = (sell: boolean) => sum(side(sell).map((one) => one.amount_usd))
      const [bought, sold] = [amount(false), amount(true)]
      const matched = Math.min(bought, sold)
      const cost = matched === 0 ? 0 : (matched * usd(false)) / bought
      return { isClosed: matched > 0, cost, profit: matched === 0 ? 0 : (matched * usd(true)) / sold - cost }
    })
    const closed = tokens.filter(({ isClosed }) => isClosed)
    const profit = sum(closed.map((one) => one.profit))
    const usd = (sell: boolean) => sum(trades.filter((one) => one.sell === sell).map((one) => one.amount_usd))
    return {
      ...{ wallet, profit, rate: profit / sum(closed.map(({ cost }) => cost)), bought: usd(false), sold: usd(true) },
      ...{ trades: trades.length, closed: closed.length, wins: closed.filter((one) => one.profit > 0).length },
      rates: closed.map((one) => one.profit / one.cost),
    }
  })
  return found.filter(({ closed, profit }) => closed >= 2 && profit > 0).sort((a, b) => b.profit - a.profit)
}
