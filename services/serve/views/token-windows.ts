import type { WindowName } from '../../core/domain/chains.js'
import type { Window } from '../../core/domain/records.js'
import type { TokenState } from '../memory/served-chain.js'
import { COUNTED_WINDOW_S, isCounted, windowOf } from '../memory/windows.js'
import { decimalOrNull } from './field-formats.js'
import { type Market, mainPairOf } from './market-facts.js'
import { decimal, fieldsOf, int } from './schema.js'
import { tokenChange } from './token-view.js'

const tokenWindowSchema = (w: WindowName) => ({
  ...fieldsOf([`token_price_change_${w}`, `token_tx_volume_usd_${w}`], decimal),
  ...fieldsOf([`token_buy_tx_volume_usd_${w}`, `token_sell_tx_volume_usd_${w}`], decimal),
  ...fieldsOf([`token_tx_count_${w}`, `token_buy_tx_count_${w}`, `token_sell_tx_count_${w}`], int),
  ...fieldsOf([`token_buyers_${w}`, `token_sellers_${w}`, `token_makers_${w}`], int),
})

const TOLD: readonly WindowName[] = ['1m', '5m', '1h', '4h', '24h']

/** The windows batch search and detail tell beside the token's own fields. */
export const tokenWindowsSchema = {
  ...(Object.assign({}, ...TOLD.map(tokenWindowSchema)) as ReturnType<typeof tokenWindowSchema>),
  ...fieldsOf(['token_price_24h_high', 'token_price_24h_low'], decimal),
}

export function tokenWindowsView(market: Market, token: TokenState): Record<string, string | number | null> {
  const day = windowOf(token.windows, '24h')
  return {
    ...Object.assign({}, ...TOLD.map((name) => tokenWindowFields(market, token, name))),
    token_price_24h_high: decimalOrNull(day.high),
    token_price_24h_low: decimalOrNull(day.low),
  }
}

/** As of the chain's now. */
export function tokenWindow(market: Market, token: TokenState, name: WindowName): Window {
  if (!isCounted(name)) return windowOf(token.windows, name)
  const { recent, targetPairs, nowS } = market.state
  return recent.tokenWindow(targetPairs.of(token.token), mainPairOf(market, token), COUNTED_WINDOW_S[name], nowS)
}

/** A token's statistics over all its pairs as target. */
function tokenWindowFields(market: Market, token: TokenState, w: WindowName) {
  const window = tokenWindow(market, token, w)
  return {
    [`token_price_change_${w}`]: tokenChange(market, token, w),
    [`token_tx_count_${w}`]: window.buys + window.sells,
    [`token_tx_volume_usd_${w}`]: decimalOrNull(window.buy_volume + window.sell_volume),
    [`token_buy_tx_count_${w}`]: window.buys,
    [`token_sell_tx_count_${w}`]: window.sells,
    [`token_buy_tx_volume_usd_${w}`]: decimalOrNull(window.buy_volume),
    [`token_sell_tx_volume_usd_${w}`]: decimalOrNull(window.sell_volume),
    [`token_buyers_${w}`]: window.buyers,
    [`token_sellers_${w}`]: window.sellers,
    [`token_makers_${w}`]: window.makers,
  }
}
