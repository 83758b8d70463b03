import { Type } from '@sinclair/typebox'
import { WINDOWS, type WindowName } from '../../core/domain/chains.js'
import { type Window, windowOf } from '../../core/domain/packed-windows.js'
import type { PairState } from '../memory/served-chain.js'
import { COUNTED_WINDOW_S, isCounted } from '../memory/windows.js'
import {
  changeOrEmpty,
  changeOrNull,
  decimal,
  decimalOrEmpty,
  decimalOrNull,
  fieldsOf,
  int,
  intOrNull,
  numOrNull,
  percentChange,
  rawOrNull,
  text,
} from './field-formats.js'
import { SHARE_DECIMALS } from './lock-view.js'
import { dayPrice, launchTag, type Market, sidePrices, supplyOf, targetOf, tokenInfo } from './market-facts.js'

export const sideSchema = (side: 'token0' | 'token1') => ({
  ...fieldsOf([`${side}_address`, `${side}_symbol`], text),
  ...fieldsOf([`${side}_decimal`], intOrNull),
  ...fieldsOf([`${side}_price_eth`, `${side}_price_usd`], decimal),
})

const windowSchema = (w: WindowName) => ({
  ...fieldsOf([`price_change_${w}`, `volume_u_${w}`, `buy_volume_u_${w}`, `sell_volume_u_${w}`], decimal),
  ...fieldsOf([`buyers_${w}`, `sellers_${w}`, `makers_${w}`], int),
  ...fieldsOf([`buys_tx_${w}_count`, `sells_tx_${w}_count`, `tx_${w}_count`], int),
})

export const PairView = Type.Object({
  ...fieldsOf(['pair', 'chain', 'amm', 'target_token', 'tag', 'dynamic_tag'], text),
  ...sideSchema('token0'),
  ...sideSchema('token1'),
  ...fieldsOf(['reserve0', 'reserve1', 'init_reserve0', 'init_reserve1', 'tvl', 'fdv', 'market_cap'], decimal),
  ...fieldsOf(['open_price', 'price_ath_u', 'high_u', 'low_u', 'price_change_1d', 'tx_amount'], decimal),
  ...fieldsOf(['created_at', 'first_trade_at', 'first_trade_block_number', 'last_trade_at', 'updated_at'], int),
  ...Object.assign({}, ...WINDOWS.map(windowSchema)),
})

export function pairView(market: Market, pair: PairState) {
  const { info } = pair
  const target = targetOf(pair)
  const day = pairWindow(market, pair, '24h')
  const value = targetValue(market, pair)
  const decimals0 = tokenInfo(market, info.token0).decimals
  const decimals1 = tokenInfo(market, info.token1).decimals
  const view: Record<string, string | number | null> = {
    pair: pair.pair,
    chain: market.state.chain,
    amm: info.amm,
    target_token: target,
    ...sideFields('token0', market, pair, info.token0),
    ...sideFields('token1', market, pair, info.token1),
    reserve0: rawOrNull(pair.reserve0, decimals0),
    reserve1: rawOrNull(pair.reserve1, decimals1),
    init_reserve0: rawOrNull(pair.init_reserve0, decimals0),
    init_reserve1: rawOrNull(pair.init_reserve1, decimals1),
    tvl: decimalOrNull(pair.tvl),
    fdv: value,
    market_cap: value,
    open_price: decimalOrNull(pair.open_price_usd),
    price_ath_u: decimalOrNull(pair.ath_usd),
    high_u: decimalOrNull(day.high),
    low_u: decimalOrNull(day.low),
    price_change_1d: changeOrNull(dayPrice(market, pair), pair.price_usd),
    tx_amount: decimalOrNull(day.amount),
    created_at: info.created_at,
    first_trade_at: pair.first_trade_at,
    first_trade_block_number: pair.first_trade_block,
    last_trade_at: pair.last_trade_at,
    updated_at: pair.updated_at,
    tag: launchTag(market, target),
    dynamic_tag: '',
  }
  for (const names of WINDOW_FIELDS) putWindowFields(view, names, market, pair)
  return view
}

/** `fdv` and `market_cap` of a pair: its target's whole supply at the pair's price. */
function targetValue(market: Market, pair: PairState): string | null {
  return decimalOrNull(supplyOf(market, targetOf(pair)) * pair.price_usd)
}

/** One of the pair's two tokens. */
export function sideFields(side: 'token0' | 'token1', market: Market, pair: PairState, token: string) {
  const { symbol, decimals } = tokenInfo(market, token)
  const { usd, native } = sidePrices(market, pair, token)
  const [priceNative, priceUsd] = [decimalOrNull(native), decimalOrNull(usd)]
  // Written out: computed names make objects that are slow to build and to read.
  if (side === 'token0') {
    return {
      token0_address: token,
      token0_symbol: symbol ?? '',
      token0_decimal: decimals,
      token0_price_eth: priceNative,
      token0_price_usd: priceUsd,
    }
  }
  return {
    token1_address: token,
    token1_symbol: symbol ?? '',
    token1_decimal: decimals,
    token1_price_eth: priceNative,
    token1_price_usd: priceUsd,
  }
}

/** Made once: a name that is put together for each answer is looked up among all names each time. */
const WINDOW_FIELDS = WINDOWS.map((name) => ({
  name,
  change: `price_change_${name}`,
  volume: `volume_u_${name}`,
  buyVolume: `buy_volume_u_${name}`,
  sellVolume: `sell_volume_u_${name}`,
  buyers: `buyers_${name}`,
  sellers: `sellers_${name}`,
  makers: `makers_${name}`,
  buys: `buys_tx_${name}_count`,
  sells: `sells_tx_${name}_count`,
  trades: `tx_${name}_count`,
}))

function putWindowFields(
  view: Record<string, string | number | null>,
  names: (typeof WINDOW_FIELDS)[number],
  market: Market,
  pair: PairState,
): void {
  const window = pairWindow(market, pair, names.name)
  view[names.change] = decimalOrNull(changeOver(pair, window))
  view[names.volume] = decimalOrNull(window.buy_volume + window.sell_volume)
  view[names.buyVolume] = decimalOrNull(window.buy_volume)
  view[names.sellVolume] = decimalOrNull(window.sell_volume)
  view[names.buyers] = window.buyers
  view[names.sellers] = window.sellers
  view[names.makers] = window.makers
  view[names.buys] = window.buys
  view[names.sells] = window.sells
  view[names.trades] = window.buys + window.sells
}

/** As of the chain time: aggregate updates a pair when a trade leaves one of its longer windows. */
export function pairWindow({ state }: Market, pair: PairState, name: WindowName): Window {
  if (!isCounted(name)) return windowOf(pair.windows, name)
  return state.recent.pairWindow(pair, COUNTED_WINDOW_S[name], state.nowS)
}

/** Percent change from the last good price before the window, or from the pair's first good price. */
export function changeOver(pair: PairState, { price_before: before }: Window): number {
  return percentChange(Number.isNaN(before) ? pair.open_price_usd : before, pair.price_usd)
}

/** Fees are stored in hundredths of a basis point. */
const FEE_UNITS = 1_000_000

/** The interface's TokenPair: unknown strings are empty. */
export const TokenPair = Type.Object({
  ...fieldsOf(['pair', 'chain', 'amm', 'target_token', 'price_change', 'price_change_24h', 'volume_u'], text),
  ...sideSchema('token0'),
  ...sideSchema('token1'),
  ...fieldsOf(['token0_price_usd', 'token1_price_usd'], text),
  ...fieldsOf(['reserve0', 'reserve1', 'low_u', 'high_u', 'total_supply', 'tx_amount'], decimal),
  ...fieldsOf(['price_change_1h', 'price_change_1d', 'market_cap', 'fdv'], decimal),
  ...fieldsOf(['fee', 'is_fake'], numOrNull),
  ...fieldsOf(['tx_count', 'created_at', 'updated_at'], int),
})

export function tokenPairView(market: Market, pair: PairState) {
  const { info } = pair
  const day = windowOf(pair.windows, '24h')
  const value = targetValue(market, pair)
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
    price_change_1h: decimalOrNull(changeOver(pair, pairWindow(market, pair, '1h'))),
    price_change_1d: changeOrNull(dayPrice(market, pair), pair.price_usd),
    market_cap: value,
    fdv: value,
    volume_u: decimalOrEmpty(day.buy_volume + day.sell_volume),
    low_u: decimalOrNull(day.low),
    high_u: decimalOrNull(day.high),
    fee: info.fee === null ? null : info.fee / FEE_UNITS,
    total_supply: rawOrNull(info.share_supply ?? null, SHARE_DECIMALS),
    // Copies of a token are not looked for.
    is_fake: null,
    tx_amount: decimalOrNull(day.amount),
    tx_count: day.buys + day.sells,
    created_at: info.created_at,
    updated_at: pair.updated_at,
  }
}
