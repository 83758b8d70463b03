import { Type } from '@sinclair/typebox'
import { joinSums, NO_SUMS, type TradeSums } from '../../history/wallet-sums.js'
import { decimalOrNull, rawOrNull, rawToNumber } from '../../views/field-formats.js'
import { firstIndexedS, type Market, tokenInfo, tokenPriceUsd } from '../../views/market-facts.js'
import { fifoProfit } from '../../views/position-view.js'
import { mainCoinPriceUsd, PnlView, pnlFields, positionOf } from '../../views/wallet-view.js'
import { type OperationContext, operation } from '../operation.js'
import { checkRange, epochSeconds, resolveAddress, resolveWallet, TokenAddress, WalletQuery } from '../parameters.js'

/** Above it the profit by first in, first out is unknown: each trade of the wallet has to be read for it. */
const MOST_FIFO_TRADES = 10_000

export const addressPnl = operation({
  id: 'addressPnl',
  method: 'GET',
  path: '/v2/address/pnl',
  summary: 'Profit of a wallet in a token, by average cost and by first in, first out',
  costCu: 5,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    ...WalletQuery,
    token_address: TokenAddress,
    from_time: Type.Optional(epochSeconds('Only trades from this time on, inclusive')),
    to_time: Type.Optional(epochSeconds('Only trades up to this time, inclusive')),
  }),
  data: PnlView,
  async handle(context, { query }) {
    const { chains, wallets } = context
    const { wallet, chain, market } = resolveWallet(chains, query.wallet_address, query.chain)
    const { address: token } = resolveAddress(chains, query.token_address, query.chain, 'token address')
    const { state } = market
    const { from_time: fromS, to_time: toS } = query
    checkRange(fromS, toS)
    const range = { wallet, fromS, toS, token: { address: token, side: 'target' as const } }
    const byPair = await wallets.sums(state, range)
    const sums = [...byPair.values()].reduce<TradeSums>(joinSums, NO_SUMS)
    const balances = await wallets.balances(state, wallet)
    const position = positionOf(market, token, sums, balances.get(token))
    const data = {
      account_address: wallet,
      ...pnlFields(market, position),
      ...(await fifoFields(context, market, sums, range)),
      ...mainCoinFields(market, balances),
      complete_since: firstIndexedS(market),
    }
    const isKnown = state.tokens.has(token)
    const reason = isKnown ? { reason: 'no_trades' } : { reason: 'unknown_token', msg: 'token not found' }
    return { data, chains: [chain], ...(byPair.size === 0 ? reason : {}) }
  },
})

async function fifoFields(
  { wallets }: OperationContext,
  market: Market,
  { buys, sells }: TradeSums,
  range: Parameters<OperationContext['wallets']['sums']>[1] & { token: { address: string } },
) {
  const unknown = { fifo_realized_profit: null, fifo_unrealized_profit: null }
  if (buys.count === 0 || buys.count + sells.count > MOST_FIFO_TRADES) return unknown
  const { state } = market
  const trades = await wallets.trades(state, { ...range, limit: MOST_FIFO_TRADES, sort: 'asc' })
  const token = state.tokens.get(range.token.address)
  const priceUsd = token === undefined ? Number.NaN : tokenPriceUsd(market, token)
  const { decimals } = tokenInfo(market, range.token.address)
  const { realized, unrealized } = fifoProfit(trades, { decimals, priceUsd })
  return { fifo_realized_profit: decimalOrNull(realized), fifo_unrealized_profit: decimalOrNull(unrealized) }
}

function mainCoinFields(market: Market, balances: ReadonlyMap<string, string>) {
  const native = market.facts?.native ?? ''
  const raw = balances.get(native) ?? null
  const { decimals } = tokenInfo(market, native)
  return {
    main_coin_balance: rawOrNull(raw, decimals),
    main_coin_balance_usd: decimalOrNull(rawToNumber(raw, decimals) * mainCoinPriceUsd(market)),
  }
}
