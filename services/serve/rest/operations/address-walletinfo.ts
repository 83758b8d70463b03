import { Type } from '@sinclair/typebox'
import { joinSums, NO_SUMS, type TradeSums } from '../../history/wallet-sums.js'
import { targetToken } from '../../memory/served-chain.js'
import { decimal, decimalOrNull, fieldsOf, int, text } from '../../views/field-formats.js'
import { firstIndexedS, type Market } from '../../views/market-facts.js'
import { byText, descending } from '../../views/ranking.js'
import { mainCoin, type Position, PositionView, pnlFields, positionOf, positionView } from '../../views/wallet-view.js'
import { type OperationContext, operation } from '../operation.js'
import { Flag, isSet, pageOf, pageQuery, resolveWallet, SortDirection, WalletQuery } from '../parameters.js'

const chainFields = {
  ...fieldsOf(['total_balance', 'total_profit', 'total_profit_ratio', 'total_win_ratio'], decimal),
  ...fieldsOf(['total_purchase', 'total_sold', 'wallet_age', 'first_trade_time', 'last_trade_time'], int),
}

export const addressWalletinfo = operation({
  id: 'addressWalletinfo',
  method: 'GET',
  path: '/v2/address/walletinfo',
  summary: 'What a wallet has traded, holds and made on a chain',
  costCu: 5,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    ...WalletQuery,
    self_address: Type.Optional(Type.String({ maxLength: 128, description: 'Accepted and not used' })),
  }),
  data: Type.Object({
    ...fieldsOf(['wallet_address', 'chain', 'main_token_symbol'], text),
    main_token_price: decimal,
    ...chainFields,
    complete_since: int,
    wallet_chain_info: Type.Array(Type.Object({ chain: text, ...chainFields })),
  }),
  async handle(context, { query }) {
    const { wallet, chain, market } = resolveWallet(context.chains, query.wallet_address, query.chain)
    const positions = await readPositions(context, market, wallet)
    const totals = totalsOf(market, positions)
    const data = {
      ...{ wallet_address: wallet, chain },
      ...mainCoin(market),
      ...totals,
      complete_since: firstIndexedS(market),
      wallet_chain_info: [{ chain, ...totals }],
    }
    return { data, chains: [chain], ...(positions.length === 0 ? { reason: 'no_trades' } : {}) }
  },
})

const SORTS = ['profit_usd', 'profit_ratio', 'balance_usd', 'last_txn_time'] as const

export const addressWalletinfoTokens = operation({
  id: 'addressWalletinfoTokens',
  method: 'GET',
  path: '/v2/address/walletinfo/tokens',
  summary: 'Positions of a wallet: each token it traded or holds',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    ...WalletQuery,
    sort: Type.Optional(
      Type.Union(
        [...SORTS, 'total_profit', 'total_profit_ratio'].map((name) => Type.Literal(name)),
        {
          default: 'profit_usd',
          description: 'Sort key; unknown values come last',
        },
      ),
    ),
    sort_dir: SortDirection,
    hide_sold: Flag('1: leave out tokens of which nothing is left'),
    hide_small: Flag('1: leave out positions worth less than 1 USD'),
    ...pageQuery({ max: 500, standard: 100 }),
  }),
  data: Type.Array(PositionView),
  async handle(context, { query }) {
    const { wallet, chain, market } = resolveWallet(context.chains, query.wallet_address, query.chain)
    const all = await readPositions(context, market, wallet)
    const measure = measureOf(query.sort ?? 'profit_usd')
    const sign = query.sort_dir === 'asc' ? -1 : 1
    const listed = all
      .map((position) => ({ position, value: worthOf(market, position), token: position.token }))
      .filter(
        ({ position, value }) =>
          !(isSet(query.hide_sold) && keptOf(position) === 0) && !(isSet(query.hide_small) && value < SMALL_USD),
      )
      .map((one) => ({ ...one, key: sign * measure(one) }))
      .sort((a, b) => descending(a.key, b.key) || byText(a.token, b.token))
    const data = pageOf(listed, query).map(({ position }) => positionView(market, position))
    return { data, chains: [chain], ...(all.length === 0 ? { reason: 'no_trades' } : {}) }
  },
})

const SMALL_USD = 1

type Listed = { position: Position; value: number }

function measureOf(sort: string): (listed: Listed) => number {
  if (sort === 'balance_usd') return ({ value }) => value
  if (sort === 'last_txn_time') return ({ position: { sums } }) => Math.max(sums.buys.lastS, sums.sells.lastS)
  if (sort === 'profit_ratio' || sort === 'total_profit_ratio') return ({ position }) => position.profit.totalRatio
  return ({ position }) => position.profit.total
}

/** Each token the wallet traded as a target, or holds. */
async function readPositions({ wallets }: OperationContext, market: Market, wallet: string): Promise<Position[]> {
  const { state } = market
  const byPair = await wallets.sums(state, { wallet })
  const balances = await wallets.balances(state, wallet)
  const byToken = new Map<string, TradeSums>([...balances.keys()].map((token) => [token, NO_SUMS]))
  for (const [pair, sums] of byPair) {
    const info = state.pairs.get(pair)?.info
    if (info === undefined) continue
    const token = targetToken(info)
    byToken.set(token, joinSums(byToken.get(token) ?? NO_SUMS, sums))
  }
  return [...byToken].map(([token, sums]) => positionOf(market, token, sums, balances.get(token)))
}

/** What is left, in raw units: the balance, or without one what was bought and not sold. */
function keptOf({ balanceRaw, sums: { buys, sells } }: Position): number {
  return balanceRaw === undefined ? Math.max(0, Number(buys.amount - sells.amount)) : Number(balanceRaw)
}

/** In USD; NaN: the balance or the price is unknown. */
function worthOf(market: Market, position: Position): number {
  return Number(pnlFields(market, position).balance_usd ?? Number.NaN)
}

const add = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : value), 0)

function totalsOf(market: Market, positions: readonly Position[]) {
  const worths = positions.map((position) => worthOf(market, position)).filter((worth) => !Number.isNaN(worth))
  const profits = positions.filter(({ profit }) => !Number.isNaN(profit.total))
  const cost = add(profits.map(({ profit }) => profit.total / profit.totalRatio))
  const total = add(profits.map(({ profit }) => profit.total))
  const closed = positions.filter(({ sums, profit }) => sums.sells.count > 0 && !Number.isNaN(profit.realized))
  const wins = closed.filter(({ profit }) => profit.realized > 0).length
  const sides = positions.flatMap(({ sums }) => [sums.buys, sums.sells]).filter(({ count }) => count > 0)
  const firstS = sides.length === 0 ? 0 : Math.min(...sides.map((side) => side.firstS))
  return {
    total_balance: worths.length === 0 ? null : decimalOrNull(add(worths)),
    total_profit: profits.length === 0 ? null : decimalOrNull(total),
    total_profit_ratio: cost > 0 ? decimalOrNull(total / cost) : null,
    total_win_ratio: closed.length === 0 ? null : decimalOrNull(wins / closed.length),
    total_purchase: add(positions.map(({ sums }) => sums.buys.count)),
    total_sold: add(positions.map(({ sums }) => sums.sells.count)),
    wallet_age: firstS === 0 ? 0 : market.state.nowS - firstS,
    first_trade_time: firstS,
    last_trade_time: Math.max(0, ...sides.map((side) => side.lastS)),
  }
}
