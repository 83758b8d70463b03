/** Windows with second precision: as served, and counted naively over all trades. */
import type { Window } from '../../services/core/domain/packed-windows.js'
import type { ServedChain } from '../../services/serve/memory/served-chain.js'
import { pairWindow } from '../../services/serve/views/pair-view.js'
import { tokenWindow } from '../../services/serve/views/token-view.js'
import { isGood, lastPrice, type Made, PAIRS, TOKENS } from './trade-history.js'

const LENGTHS = [
  ['1m', 60],
  ['5m', 300],
] as const

/** Every served window with second precision, by window and subject. */
export function servedAnswers(state: ServedChain): Record<string, unknown> {
  const market = { state, facts: undefined, amms: [] }
  return Object.fromEntries(
    LENGTHS.flatMap(([name]) => [
      ...[...state.pairs.values()].map((pair) => [`${name} ${pair.pair}`, pairWindow(market, pair, name)]),
      ...[...state.tokens.values()].map((token) => [`${name} ${token.token}`, tokenWindow(market, token, name)]),
    ]),
  )
}

export function naiveAnswers(made: readonly Made[], nowS: number): Record<string, unknown> {
  const known = PAIRS.filter(({ pair }) => made.some((one) => one.pair === pair))
  return Object.fromEntries(
    LENGTHS.flatMap(([name, lengthS]) => [
      ...known.map(({ pair }) => [`${name} ${pair}`, naiveWindow(made, [pair], pair, nowS, lengthS)]),
      ...TOKENS.map(({ token, pairs, main }) => [`${name} ${token}`, naiveWindow(made, pairs, main, nowS, lengthS)]),
    ]),
  )
}

/** A window as docs/data.md defines it, over all trades. */
function naiveWindow(made: readonly Made[], pairs: readonly string[], main: string, nowS: number, lengthS: number) {
  const inside = made.filter(({ pair, timeS }) => pairs.includes(pair) && timeS > nowS - lengthS)
  const side = (sell: boolean) => inside.filter((one) => one.trade.sell === sell)
  const wallets = (list: Made[]) => new Set(list.map((one) => one.trade.wallet).filter((wallet) => wallet !== '')).size
  const usd = (list: Made[]) => sum(list.map((one) => one.trade.amount_usd).filter((amount) => !Number.isNaN(amount)))
  const prices = inside.filter(isGood).map((one) => one.trade.price_usd)
  const before = made.filter((one) => one.pair === main && isGood(one) && one.timeS <= nowS - lengthS)
  const lastS = Math.max(...before.map(({ timeS }) => timeS))
  return {
    ...{ buy_volume: usd(side(false)), sell_volume: usd(side(true)) },
    ...{ buys: side(false).length, sells: side(true).length },
    ...{ buyers: wallets(side(false)), sellers: wallets(side(true)), makers: wallets(inside) },
    amount: sum(inside.filter(({ pair }) => pair !== 'p2').map(targetAmount)),
    high: prices.length === 0 ? Number.NaN : Math.max(...prices),
    low: prices.length === 0 ? Number.NaN : Math.min(...prices),
    price_before: lastPrice(before.filter(({ timeS }) => timeS === lastS)),
  } satisfies Window
}

const sum = (list: number[]) => list.reduce((total, one) => total + one, 0)
const targetAmount = ({ trade: { sell, amount_in, amount_out } }: Made) => Number(sell ? amount_in : amount_out) / 100
