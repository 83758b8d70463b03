import { Type } from '@sinclair/typebox'
import { powerOfTen } from '../../core/domain/money.js'
import type { SideSums, TradeSums } from '../history/wallet-sums.js'
import type { WalletTrade } from '../history/wallet-trades.js'
import { type TokenState, targetToken } from '../memory/served-chain.js'
import { decimal, decimalOrNull, fieldsOf, int, intOrNull, rawOrNull, rawToNumber, text } from './field-formats.js'
import { type Market, tokenInfo, tokenPriceUsd } from './market-facts.js'
import { type Profit, profitOf } from './position-view.js'
import { readRisk } from './risk-view.js'

export const WalletSwapItem = Type.Object({
  ...fieldsOf(['id', 'tx_hash', 'hash', 'chain', 'amm', 'pair_address', 'wallet_address', 'sender', 'to'], text),
  ...fieldsOf(['from_address', 'from_symbol', 'to_address', 'to_symbol', 'target_token'], text),
  ...fieldsOf(['time', 'block_number'], int),
  ...fieldsOf(['from_amount', 'to_amount', 'from_price_usd', 'to_price_usd', 'amount_usd'], decimal),
  tx_swap_type: Type.Integer({
    minimum: 0,
    maximum: 2,
    description: '0: buy, 1: sell of the target token, 2: neither',
  }),
})

/** The tokens of a swap: the target's price is the executed one, the quote's is its price before the swap. */
export function swapSides({ state }: Market, trade: WalletTrade) {
  const info = state.pairs.get(trade.pair)?.info
  const target = { address: info === undefined ? '' : targetToken(info), priceUsd: trade.price_usd }
  const quote = {
    address: info === undefined ? '' : info.target === 0 ? info.token1 : info.token0,
    priceUsd: trade.quote_usd,
  }
  const [from, to] = trade.sell ? [target, quote] : [quote, target]
  return { amm: info?.amm ?? '', target: target.address, from, to }
}

export function walletSwapItem(market: Market, trade: WalletTrade) {
  const { amm, target, from, to } = swapSides(market, trade)
  const [fromInfo, toInfo] = [tokenInfo(market, from.address), tokenInfo(market, to.address)]
  return {
    id: trade.id,
    ...{ tx_hash: trade.tx_hash, hash: trade.tx_hash },
    time: trade.timeS,
    block_number: trade.blockNumber,
    ...{ chain: market.state.chain, amm, pair_address: trade.pair, target_token: target },
    ...{ wallet_address: trade.wallet, sender: trade.sender, to: trade.recipient },
    from_address: from.address,
    from_symbol: fromInfo.symbol ?? '',
    from_amount: rawOrNull(trade.amount_in, fromInfo.decimals),
    from_price_usd: decimalOrNull(from.priceUsd),
    to_address: to.address,
    to_symbol: toInfo.symbol ?? '',
    to_amount: rawOrNull(trade.amount_out, toInfo.decimals),
    to_price_usd: decimalOrNull(to.priceUsd),
    amount_usd: decimalOrNull(trade.amount_usd),
    tx_swap_type: trade.sell ? 1 : 0,
  }
}

/** A wallet's position in a token. */
export type Position = {
  token: string
  sums: TradeSums
  /** Raw; undefined: unknown. */
  balanceRaw: string | undefined
  profit: Profit
}

/** Balances of a token are unknown where none of its holders is known. */
export function positionOf(market: Market, token: string, sums: TradeSums, heldRaw: string | undefined): Position {
  const state = market.state.tokens.get(token)
  const areBalancesKnown = (state?.holders ?? 0) > 0
  const balanceRaw = heldRaw ?? (areBalancesKnown ? '0' : undefined)
  const { decimals } = tokenInfo(market, token)
  const balance = balanceRaw === undefined ? undefined : rawToNumber(balanceRaw, decimals)
  const priceUsd = state === undefined ? Number.NaN : tokenPriceUsd(market, state)
  return { token, sums, balanceRaw, profit: profitOf(sums, { decimals, priceUsd, balance }) }
}

const rfc3339 = (timeS: number): string =>
  timeS === 0 ? '' : new Date(timeS * 1000).toISOString().replace('.000Z', 'Z')

export const PnlView = Type.Object({
  ...fieldsOf(['account_address', 'token_address', 'chain', 'symbol'], text),
  ...fieldsOf(['total_purchase', 'total_sold'], int),
  ...fieldsOf(['total_purchase_amount', 'total_purchased_usd', 'average_purchase_price_usd'], decimal),
  ...fieldsOf(['max_single_purchase_usd', 'total_sold_amount', 'total_sold_usd', 'average_sold_price_usd'], decimal),
  max_single_sold_usd: decimal,
  ...fieldsOf(['first_purchase_time', 'last_purchase_time', 'first_sold_time', 'last_sold_time'], text),
  ...fieldsOf(
    ['profit_realized', 'realized_profit', 'unrealized_profit', 'total_profit', 'total_profit_ratio'],
    decimal,
  ),
  ...fieldsOf(['fifo_realized_profit', 'fifo_unrealized_profit'], decimal),
  ...fieldsOf(
    ['current_price_usd', 'balance_amount', 'balance_usd', 'main_coin_balance', 'main_coin_balance_usd'],
    decimal,
  ),
  complete_since: int,
})

function sideFields(market: Market, token: string, side: SideSums) {
  const { decimals } = tokenInfo(market, token)
  const amount = (raw: bigint) => (raw === 0n ? '0' : rawOrNull(raw.toString(), decimals))
  const priced = Number(side.priced) / powerOfTen(decimals ?? Number.NaN)
  return {
    amount: amount(side.amount),
    usd: decimalOrNull(side.usd),
    average: decimalOrNull(side.usd / priced),
    maxUsd: side.count === 0 ? null : decimalOrNull(side.maxUsd),
    ...{ first: rfc3339(side.firstS), last: rfc3339(side.lastS) },
  }
}

/** What a wallet bought and sold of a token, and what it made of it. */
export function pnlFields(market: Market, { token, sums, balanceRaw, profit }: Position) {
  const { symbol, decimals } = tokenInfo(market, token)
  const [bought, sold] = [sideFields(market, token, sums.buys), sideFields(market, token, sums.sells)]
  const state = market.state.tokens.get(token)
  const priceUsd = state === undefined ? Number.NaN : tokenPriceUsd(market, state)
  return {
    ...{ token_address: token, chain: market.state.chain, symbol: symbol ?? '' },
    ...{ total_purchase: sums.buys.count, total_sold: sums.sells.count },
    ...{ total_purchase_amount: bought.amount, total_purchased_usd: bought.usd },
    ...{ average_purchase_price_usd: bought.average, max_single_purchase_usd: bought.maxUsd },
    ...{ total_sold_amount: sold.amount, total_sold_usd: sold.usd },
    ...{ average_sold_price_usd: sold.average, max_single_sold_usd: sold.maxUsd },
    ...{ first_purchase_time: bought.first, last_purchase_time: bought.last },
    ...{ first_sold_time: sold.first, last_sold_time: sold.last },
    profit_realized: decimalOrNull(profit.realized),
    realized_profit: decimalOrNull(profit.realized),
    unrealized_profit: decimalOrNull(profit.unrealized),
    total_profit: decimalOrNull(profit.total),
    total_profit_ratio: decimalOrNull(profit.totalRatio),
    current_price_usd: decimalOrNull(priceUsd),
    balance_amount: rawOrNull(balanceRaw ?? null, decimals),
    balance_usd: decimalOrNull(rawToNumber(balanceRaw ?? null, decimals) * priceUsd),
  }
}

export const PositionView = Type.Object({
  ...fieldsOf(['token', 'chain', 'symbol', 'logo_url', 'main_token_symbol'], text),
  ...fieldsOf(['total_purchase', 'total_sold', 'last_txn_time', 'risk_level'], int),
  ...fieldsOf(['decimals'], intOrNull),
  ...fieldsOf(['balance_amount', 'balance_usd', 'current_price_usd', 'main_token_price'], decimal),
  ...fieldsOf(['total_purchase_usd', 'total_purchase_amount', 'average_purchase_price_usd'], decimal),
  ...fieldsOf(['total_sold_usd', 'total_sold_amount', 'average_sold_price_usd', 'risk_score'], decimal),
  ...fieldsOf(['realized_profit', 'unrealized_profit', 'total_profit', 'total_profit_ratio'], decimal),
  ...fieldsOf(['total_transfer_in_amount', 'total_transfer_out_amount'], decimal),
})

export function positionView(market: Market, position: Position) {
  const { token, sums } = position
  const { token_address: _token, ...pnl } = pnlFields(market, position)
  const info = tokenInfo(market, token)
  const risk = readRisk(info.risk)
  return {
    ...pnl,
    token,
    total_purchase_usd: pnl.total_purchased_usd,
    decimals: info.decimals,
    logo_url: info.logo_url ?? market.facts?.logos?.get(token) ?? '',
    ...{ risk_level: risk.risk_level, risk_score: risk.risk_score === null ? null : String(risk.risk_score) },
    last_txn_time: Math.max(sums.buys.lastS, sums.sells.lastS),
    ...mainCoin(market),
    // No log tells the transfers of all tokens.
    ...{ total_transfer_in_amount: null, total_transfer_out_amount: null },
  }
}

/** The chain's native coin. */
export function mainCoin(market: Market) {
  const symbol = nativeCoin(market)?.info.symbol ?? ''
  return { main_token_symbol: symbol, main_token_price: decimalOrNull(mainCoinPriceUsd(market)) }
}

export function mainCoinPriceUsd(market: Market): number {
  const coin = nativeCoin(market)
  return coin === undefined ? Number.NaN : tokenPriceUsd(market, coin)
}

function nativeCoin({ state, facts }: Market): TokenState | undefined {
  return state.tokens.get(facts?.native ?? '')
}
