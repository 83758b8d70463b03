import { Type } from '@sinclair/typebox'
import { BURN_ADDRESSES } from '../../core/domain/chains.js'
import type { Balance } from '../history/balances.js'
import type { WalletTrades } from '../history/holder-trades.js'
import type { TokenState } from '../memory/served-chain.js'
import { fieldsOf, int, intOrNull, jsonNumberOrNull, numOrNull, rawToNumber, text } from './field-formats.js'
import { type Market, supplyOf, tokenInfo, tokenPriceUsd } from './market-facts.js'
import { profitOf } from './position-view.js'

export const HolderView = Type.Object({
  ...fieldsOf(['holder', 'address', 'addr_alias'], text),
  ...fieldsOf(['balance_ratio', 'balance_usd', 'main_coin_balance', 'amount_cur'], numOrNull),
  ...fieldsOf(['buy_tx_count_cur', 'sell_tx_count_cur', 'trade_first_at', 'trade_last_at', 'complete_since'], int),
  ...fieldsOf(['buy_amount_cur', 'sell_amount_cur', 'buy_volume_cur', 'sell_volume_cur'], numOrNull),
  ...fieldsOf(['avg_purchase_price', 'avg_sale_price', 'realized_profit', 'unrealized_profit'], numOrNull),
  ...fieldsOf(['total_profit', 'realized_profit_ratio', 'unrealized_profit_ratio', 'total_profit_ratio'], numOrNull),
  ...fieldsOf(['max_single_purchase_usd', 'max_single_sold_usd', 'max_txn_usd'], numOrNull),
  ...fieldsOf(['transfer_in', 'transfer_out', 'total_transfer_in_usd'], numOrNull),
  last_txn_time: int,
  holders_complete_since: intOrNull,
})

export type HolderFacts = Balance & {
  /** Raw balance of the chain's native coin. */
  mainCoinRaw: string | null
  trades: WalletTrades
  /** Chain time of the first indexed block: earlier trades are unknown. */
  completeSinceS: number
}

export function holderView(market: Market, token: TokenState, facts: HolderFacts) {
  const { trades } = facts
  const { decimals } = token.info
  const amount = rawToNumber(facts.balanceRaw, decimals)
  const priceUsd = tokenPriceUsd(market, token)
  const profit = profitOf(sumsOf(trades), { decimals, priceUsd, balance: amount })
  const [maxBuy, maxSell] = [trades.buys > 0 ? trades.maxBuyUsd : null, trades.sells > 0 ? trades.maxSellUsd : null]
  return {
    holder: facts.holder,
    address: facts.holder,
    addr_alias: aliasOf(market, facts.holder),
    balance_ratio: jsonNumberOrNull(amount / supplyOf(market, token.token)),
    balance_usd: jsonNumberOrNull(amount * priceUsd),
    main_coin_balance: jsonNumberOrNull(rawToNumber(facts.mainCoinRaw, nativeDecimals(market))),
    amount_cur: jsonNumberOrNull(amount),
    buy_tx_count_cur: trades.buys,
    sell_tx_count_cur: trades.sells,
    buy_amount_cur: jsonNumberOrNull(profit.bought),
    sell_amount_cur: jsonNumberOrNull(profit.sold),
    buy_volume_cur: trades.buyVolumeUsd,
    sell_volume_cur: trades.sellVolumeUsd,
    avg_purchase_price: jsonNumberOrNull(profit.avgPurchase),
    avg_sale_price: jsonNumberOrNull(profit.avgSale),
    realized_profit: jsonNumberOrNull(profit.realized),
    unrealized_profit: jsonNumberOrNull(profit.unrealized),
    total_profit: jsonNumberOrNull(profit.total),
    realized_profit_ratio: jsonNumberOrNull(profit.realizedRatio),
    unrealized_profit_ratio: jsonNumberOrNull(profit.unrealizedRatio),
    total_profit_ratio: jsonNumberOrNull(profit.totalRatio),
    max_single_purchase_usd: maxBuy,
    max_single_sold_usd: maxSell,
    max_txn_usd: maxBuy === null && maxSell === null ? null : Math.max(maxBuy ?? 0, maxSell ?? 0),
    // Balances are known, the transfers between them are not. Written out: a spread makes the object eight times as slow.
    transfer_in: null,
    transfer_out: null,
    total_transfer_in_usd: null,
    trade_first_at: trades.firstAtS,
    trade_last_at: trades.lastAtS,
    last_txn_time: trades.lastAtS,
    complete_since: facts.completeSinceS,
    holders_complete_since: token.info.holders_since,
  }
}

function sumsOf(trades: WalletTrades) {
  return {
    buys: { count: trades.buys, amount: trades.boughtRaw, priced: trades.pricedBoughtRaw, usd: trades.buyVolumeUsd },
    sells: { count: trades.sells, amount: trades.soldRaw, priced: trades.pricedSoldRaw, usd: trades.sellVolumeUsd },
  }
}

/** What an address is known to be. */
function aliasOf({ state, facts }: Market, holder: string): string {
  const pool = state.pairs.get(holder)
  if (pool !== undefined) return `Pool (${pool.info.amm})`
  return BURN_ADDRESSES[facts?.family ?? 'evm'].includes(holder) ? 'Burn address' : ''
}

function nativeDecimals(market: Market): number | null {
  return market.facts?.native === undefined ? null : tokenInfo(market, market.facts.native).decimals
}
