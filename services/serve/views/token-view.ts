import { Type } from '@sinclair/typebox'
import type { WindowName } from '../../core/domain/chains.js'
import { dayVolumeUsd, type Window, windowOf } from '../../core/domain/packed-windows.js'
import type { LaunchRates } from '../history/first-buyers.js'
import type { TokenState } from '../memory/served-chain.js'
import { COUNTED_WINDOW_S, isCounted } from '../memory/windows.js'
import {
  changeOrNull,
  decimal,
  decimalOrNull,
  fieldsOf,
  int,
  intOrNull,
  numOrNull,
  rawOrNull,
  rawToNumber,
  text,
} from './field-formats.js'
import { locksOf } from './lock-view.js'
import {
  burntRaw,
  dayPrice,
  knownHolders,
  type Market,
  mainPairOf,
  supplyInMarket,
  supplyLeft,
  tokenPriceNative,
  tokenPriceUsd,
} from './market-facts.js'
import { linksOf, logoOf, NAME_FLAGS, nameFlags } from './name-flags.js'
import { changeOver, pairWindow } from './pair-view.js'
import { readRisk, WALLET_RATES } from './risk-view.js'

/** Fields shared by keyword search, batch search, detail, main, trending and platform lists. */
export const tokenFields = {
  ...fieldsOf(['token', 'chain', 'name', 'symbol', 'logo_url', 'intro_en', 'intro_cn', 'appendix'], text),
  decimal: intOrNull,
  ...fieldsOf(['total', 'current_price_usd', 'current_price_eth', 'price_change_1d', 'price_change_24h'], decimal),
  ...fieldsOf(['market_cap', 'fdv', 'tvl', 'main_pair_tvl', 'tx_volume_u_24h', 'tx_amount_24h'], decimal),
  ...fieldsOf(['burn_amount', 'lock_amount', 'other_amount', 'locked_percent', 'launch_price'], decimal),
  main_pair: text,
  holders: intOrNull,
  ...fieldsOf(['tx_count_24h', 'created_at', 'launch_at', 'updated_at'], int),
  ...fieldsOf(['risk_score', 'ave_risk_level', 'is_mintable', 'is_in_blacklist', 'is_lp_not_locked'], numOrNull),
  ...fieldsOf(['has_mint_method', 'has_black_method', 'has_not_renounced'], numOrNull),
  ...fieldsOf(['has_not_open_source', 'has_not_audited'], numOrNull),
  ...fieldsOf(WALLET_RATES, numOrNull),
  ...fieldsOf(['is_honeypot', 'risk_level'], int),
  ...fieldsOf(['issue_platform', 'risk_info', 'lock_platform'], text),
  flags: Type.Array(Type.String(), {
    description: `What its own texts try to make a reader believe: ${NAME_FLAGS.join(', ')}`,
  }),
}

export const TokenView = Type.Object(tokenFields)

export function tokenView(market: Market, token: TokenState, rates: LaunchRates) {
  const { info } = token
  const day = windowOf(token.windows, '24h')
  const main = mainPairOf(market, token)
  const risk = readRisk(info.risk)
  return {
    token: token.token,
    chain: market.state.chain,
    name: info.name ?? '',
    symbol: info.symbol ?? '',
    decimal: info.decimals,
    total: rawOrNull(info.total_supply, info.decimals),
    logo_url: logoOf(token) || (market.facts?.logos?.get(token.token) ?? ''),
    ...{ intro_en: '', intro_cn: '' },
    appendix: linksOf(token),
    ...priceFields(market, token),
    current_price_eth: decimalOrNull(tokenPriceNative(market, token)),
    main_pair: token.main_pair ?? '',
    main_pair_tvl: decimalOrNull(main?.tvl ?? Number.NaN),
    tx_count_24h: day.buys + day.sells,
    tx_amount_24h: decimalOrNull(day.amount),
    burn_amount: rawOrNull(burntRaw(token), info.decimals),
    ...lockFields(token),
    other_amount: null,
    created_at: info.created_at,
    launch_at: info.launch_at,
    launch_price: decimalOrNull(info.launch_price ?? Number.NaN),
    ...risk,
    // Where our history has no launch, what a recording says.
    bundle_wallet_rate: rates.bundle_wallet_rate ?? risk.bundle_wallet_rate,
    cluster_wallet_rate: rates.cluster_wallet_rate ?? risk.cluster_wallet_rate,
    insider_wallet_rate: rates.insider_wallet_rate ?? risk.insider_wallet_rate,
    issue_platform: info.launch_platform ?? '',
    flags: nameFlags(market, token),
  }
}

/** Fields of the price operation, also part of the token view. */
export function priceFields(market: Market, token: TokenState) {
  const priceUsd = tokenPriceUsd(market, token)
  const main = mainPairOf(market, token)
  return {
    current_price_usd: decimalOrNull(priceUsd),
    price_change_1d: main === undefined ? null : changeOrNull(dayPrice(market, main), main.price_usd),
    price_change_24h: tokenChange(market, token, '24h'),
    tvl: decimalOrNull(token.tvl),
    market_cap: decimalOrNull(supplyInMarket(token) * priceUsd),
    fdv: decimalOrNull(supplyLeft(token) * priceUsd),
    holders: knownHolders(token),
    tx_volume_u_24h: decimalOrNull(dayVolumeUsd(token.windows)),
    updated_at: token.updated_at,
  }
}

/** What lockers hold of it. `locked_percent` is a fraction of the total supply. */
export function lockFields({ info }: Pick<TokenState, 'info'>) {
  const { lockedRaw, platform } = locksOf(info)
  const share = rawToNumber(lockedRaw, info.decimals) / rawToNumber(info.total_supply, info.decimals)
  return {
    lock_amount: rawOrNull(lockedRaw, info.decimals),
    locked_percent: decimalOrNull(share),
    lock_platform: platform,
  }
}

/** `market_cap` of the token view as a number, for sorting. */
export function tokenValueUsd(market: Market, token: TokenState): number {
  return supplyInMarket(token) * tokenPriceUsd(market, token)
}

/** `fdv` of the same. */
export function dilutedValueUsd(market: Market, token: TokenState): number {
  return supplyLeft(token) * tokenPriceUsd(market, token)
}

/** Strings the interface requires: empty if unknown. */
export const requiredTokenTexts = fieldsOf(['current_price_usd', 'market_cap', 'tvl'], text)

export function withRequiredTexts<View extends ReturnType<typeof tokenView>>(view: View) {
  const { current_price_usd, market_cap, tvl } = view
  return {
    ...view,
    ...{ current_price_usd: current_price_usd ?? '', market_cap: market_cap ?? '', tvl: tvl ?? '' },
  }
}

/** A token's change over a window is its main pair's. */
export function tokenChange(market: Market, token: TokenState, window: WindowName): string | null {
  const main = mainPairOf(market, token)
  return main === undefined ? null : decimalOrNull(changeOver(main, pairWindow(market, main, window)))
}

const tokenWindowSchema = (w: WindowName) => ({
  ...fieldsOf([`token_price_change_${w}`, `token_tx_volume_usd_${w}`], decimal),
  ...fieldsOf([`token_buy_tx_volume_usd_${w}`, `token_sell_tx_volume_usd_${w}`], decimal),
  ...fieldsOf([`token_tx_count_${w}`, `token_buy_tx_count_${w}`, `token_sell_tx_count_${w}`], int),
  ...fieldsOf([`token_buyers_${w}`, `token_sellers_${w}`, `token_makers_${w}`], int),
})

const TOKEN_WINDOWS: readonly WindowName[] = ['1m', '5m', '1h', '4h', '24h']

/** Made once: a name that is put together for each answer is looked up among all names each time. */
const TOKEN_WINDOW_FIELDS = TOKEN_WINDOWS.map((name) => ({
  name,
  change: `token_price_change_${name}`,
  trades: `token_tx_count_${name}`,
  volume: `token_tx_volume_usd_${name}`,
  buys: `token_buy_tx_count_${name}`,
  sells: `token_sell_tx_count_${name}`,
  buyVolume: `token_buy_tx_volume_usd_${name}`,
  sellVolume: `token_sell_tx_volume_usd_${name}`,
  buyers: `token_buyers_${name}`,
  sellers: `token_sellers_${name}`,
  makers: `token_makers_${name}`,
}))

/** Window statistics in batch search and detail. */
export const tokenWindowsSchema = {
  ...(Object.assign({}, ...TOKEN_WINDOWS.map(tokenWindowSchema)) as ReturnType<typeof tokenWindowSchema>),
  ...fieldsOf(['token_price_24h_high', 'token_price_24h_low'], decimal),
}

export function tokenWindowsView(market: Market, token: TokenState): Record<string, string | number | null> {
  const day = windowOf(token.windows, '24h')
  const view: Record<string, string | number | null> = {
    token_price_24h_high: decimalOrNull(day.high),
    token_price_24h_low: decimalOrNull(day.low),
  }
  for (const names of TOKEN_WINDOW_FIELDS) putTokenWindowFields(view, names, market, token)
  return view
}

/** As of the chain time. */
export function tokenWindow(market: Market, token: TokenState, name: WindowName): Window {
  if (!isCounted(name)) return windowOf(token.windows, name)
  const { recent, targetPairs, nowS } = market.state
  return recent.tokenWindow(targetPairs.of(token.token), mainPairOf(market, token), COUNTED_WINDOW_S[name], nowS)
}

/** A token's statistics over all pairs whose target it is. */
function putTokenWindowFields(
  view: Record<string, string | number | null>,
  names: (typeof TOKEN_WINDOW_FIELDS)[number],
  market: Market,
  token: TokenState,
): void {
  const window = tokenWindow(market, token, names.name)
  view[names.change] = tokenChange(market, token, names.name)
  view[names.trades] = window.buys + window.sells
  view[names.volume] = decimalOrNull(window.buy_volume + window.sell_volume)
  view[names.buys] = window.buys
  view[names.sells] = window.sells
  view[names.buyVolume] = decimalOrNull(window.buy_volume)
  view[names.sellVolume] = decimalOrNull(window.sell_volume)
  view[names.buyers] = window.buyers
  view[names.sellers] = window.sellers
  view[names.makers] = window.makers
}
