import { Type } from '@sinclair/typebox'
import { powerOfTen } from '../../core/domain/money.js'
import type { Balance, WalletTrades } from '../history/holders.js'
import type { TokenState } from '../memory/served-chain.js'
import { fieldsOf, int, jsonNumberOrNull, numOrNull, rawToNumber, text } from './field-formats.js'
import { type Market, supplyOf, tokenInfo, tokenPriceUsd } from './market-facts.js'

export const HolderView = Type.Object({
  ...fieldsOf(['holder', 'address'], text),
  ...fieldsOf(['balance_ratio', 'balance_usd', 'main_coin_balance', 'amount_cur'], numOrNull),
  ...fieldsOf(['buy_tx_count_cur', 'sell_tx_count_cur', 'trade_first_at', 'trade_last_at', 'complete_since'], int),
  ...fieldsOf(['buy_amount_cur', 'sell_amount_cur', 'buy_volume_cur', 'sell_volume_cur'], numOrNull),
  ...fieldsOf(['avg_purchase_price', 'avg_sale_price', 'realized_profit', 'unrealized_profit'], numOrNull),
  total_profit: numOrNull,
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
  const amount = rawToNumber(facts.balanceRaw, token.info.decimals)
  const priceUsd = tokenPriceUsd(market, token)
  const unit = powerOfTen(token.info.decimals ?? Number.NaN)
  // Zero needs no decimals.
  const amountOf = (raw: number): number => (raw === 0 ? 0 : raw / unit)
  const [bought, sold] = [amountOf(trades.boughtRaw), amountOf(trades.soldRaw)]
  const avgPurchase = trades.buyVolumeUsd / amountOf(trades.pricedBoughtRaw)
  const avgSale = trades.sellVolumeUsd / amountOf(trades.pricedSoldRaw)
  // Only indexed buys have a known cost: `matched` was sold again, `kept` may still be held.
  const matched = Math.min(bought, sold)
  const kept = Math.min(Math.max(bought - sold, 0), amount)
  const realized = matched === 0 ? 0 : matched * (avgSale - avgPurchase)
  const unrealized = kept === 0 ? 0 : kept * (priceUsd - avgPurchase)
  const known = trades.buys > 0
  return {
    holder: facts.holder,
    address: facts.holder,
    balance_ratio: jsonNumberOrNull(amount / supplyOf(market, token.token)),
    balance_usd: jsonNumberOrNull(amount * priceUsd),
    main_coin_balance: jsonNumberOrNull(rawToNumber(facts.mainCoinRaw, nativeDecimals(market))),
    amount_cur: jsonNumberOrNull(amount),
    buy_tx_count_cur: trades.buys,
    sell_tx_count_cur: trades.sells,
    buy_amount_cur: jsonNumberOrNull(bought),
    sell_amount_cur: jsonNumberOrNull(sold),
    buy_volume_cur: trades.buyVolumeUsd,
    sell_volume_cur: trades.sellVolumeUsd,
    avg_purchase_price: jsonNumberOrNull(avgPurchase),
    avg_sale_price: jsonNumberOrNull(avgSale),
    realized_profit: known ? jsonNumberOrNull(realized) : null,
    unrealized_profit: known ? jsonNumberOrNull(unrealized) : null,
    total_profit: known ? jsonNumberOrNull(realized + unrealized) : null,
    trade_first_at: trades.firstAtS,
    trade_last_at: trades.lastAtS,
    complete_since: facts.completeSinceS,
  }
}

function nativeDecimals(market: Market): number | null {
  return market.facts?.native === undefined ? null : tokenInfo(market, market.facts.native).decimals
}
