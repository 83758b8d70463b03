import { Type } from '@sinclair/typebox'
import type { PairState } from '../memory/served-chain.js'
import { windowOf } from '../memory/windows.js'
import { changeOrEmpty, decimalOrEmpty, decimalOrNull, rawOrNull } from './field-formats.js'
import { dayPrice, type Market, sidePrices, targetOf, tokenInfo } from './market-facts.js'
import { changeOver, pairWindow, sideFields, sideSchema } from './pair-view.js'
import { decimal, fieldsOf, int, numOrNull, text } from './schema.js'

/** Fees are in hundredths of a basis point. */
const FEE_UNITS = 1_000_000

/** The interface's TokenPair: its own strings are empty where unknown. */
export const TokenPair = Type.Object({
  ...fieldsOf(['pair', 'chain', 'amm', 'target_token', 'price_change', 'price_change_24h', 'volume_u'], text),
  ...sideSchema('token0'),
  ...sideSchema('token1'),
  ...fieldsOf(['token0_price_usd', 'token1_price_usd'], text),
  ...fieldsOf(['reserve0', 'reserve1', 'low_u', 'high_u', 'total_supply', 'tx_amount'], decimal),
  fee: numOrNull,
  ...fieldsOf(['tx_count', 'created_at', 'updated_at'], int),
})

export function tokenPairView(market: Market, pair: PairState) {
  const { info } = pair
  const day = windowOf(pair.windows, '24h')
  return {
    pair: pair.pair,
    chain: market.state.chain,
    amm: info.amm,
    target_token: targetOf(pair),
    ...sideFields('token0', market, pair, info.token0),
    ...sideFields('token1', market, pair, info.token1),
    token0_price_usd: decimalOrEmpty(sidePrices(market, pair, info.token0).usd),
    token1_price_usd: decimalOrEmpty(sidePrices(market, pair, info.token1).usd),
    reserve0: rawOrNull(pair.reserve0, tokenInfo(market, info.token0).decimals),
    reserve1: rawOrNull(pair.reserve1, tokenInfo(market, info.token1).decimals),
    price_change: changeOrEmpty(dayPrice(market, pair), pair.price_usd),
    price_change_24h: decimalOrEmpty(changeOver(pair, pairWindow(market, pair, '24h'))),
    volume_u: decimalOrEmpty(day.buy_volume + day.sell_volume),
    low_u: decimalOrNull(day.low),
    high_u: decimalOrNull(day.high),
    fee: info.fee === null ? null : info.fee / FEE_UNITS,
    // Nobody counts a pool's own shares.
    total_supply: null,
    tx_amount: decimalOrNull(day.amount),
    tx_count: day.buys + day.sells,
    created_at: info.created_at,
    updated_at: pair.updated_at,
  }
}
