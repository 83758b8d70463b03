/** Expected `/v2/pairs/{id}`, from the reference. */
import { WINDOWS } from '../../../services/core/domain/chains.js'
import type { Window } from '../../../services/core/domain/packed-windows.js'
import type { Reference, ReferencePair } from '../reference/recompute.js'
import { amountOf, changeOf, type Expected, exactDecimal } from './decimals.js'
import type { Launches } from './launches.js'

/** The time of the last block that touched the pair, which the final state does not determine. */
export const UNCHECKED_OF_PAIR = ['updated_at']

export const NO_WINDOW: Window = {
  ...{ buy_volume: 0, sell_volume: 0, buys: 0, sells: 0, buyers: 0, sellers: 0, makers: 0, amount: 0 },
  ...{ high: Number.NaN, low: Number.NaN, price_before: Number.NaN },
}

export const windowNamed = (windows: readonly Window[], name: (typeof WINDOWS)[number]): Window =>
  windows[WINDOWS.indexOf(name)] ?? NO_WINDOW

/** Change since the last good price before the window, or since the first price ever. */
export function windowChange(pair: ReferencePair, name: (typeof WINDOWS)[number]): number {
  const before = windowNamed(pair.windows, name).price_before
  return changeOf(Number.isNaN(before) ? pair.open_price_usd : before, pair.price_usd)
}

export function expectedPair(reference: Reference, address: string, pair: ReferencePair, launches: Launches): Expected {
  const day = windowNamed(pair.windows, '24h')
  const target = reference.tokens.get(pair.target_token)
  const value = amountOf(target?.total_supply ?? null, target?.decimals ?? null) * pair.price_usd
  const [decimals0, decimals1] = [pair.token0, pair.token1].map(
    (token) => reference.tokens.get(token)?.decimals ?? null,
  )
  return {
    pair: address,
    chain: reference.chain,
    amm: pair.amm,
    target_token: pair.target_token,
    ...sideOf('token0', reference, pair, pair.token0),
    ...sideOf('token1', reference, pair, pair.token1),
    reserve0: exactDecimal(pair.reserve0, decimals0 ?? null),
    reserve1: exactDecimal(pair.reserve1, decimals1 ?? null),
    init_reserve0: exactDecimal(pair.init_reserve0, decimals0 ?? null),
    init_reserve1: exactDecimal(pair.init_reserve1, decimals1 ?? null),
    tvl: pair.tvl,
    fdv: value,
    market_cap: value,
    open_price: pair.open_price_usd,
    price_ath_u: pair.ath_usd,
    high_u: day.high,
    low_u: day.low,
    price_change_1d: changeOf(pair.price_day_usd, pair.price_usd),
    tx_amount: day.amount,
    created_at: pair.created_at,
    first_trade_at: pair.first_trade_at,
    first_trade_block_number: pair.first_trade_block,
    last_trade_at: pair.last_trade_at,
    tag: launches.tagOf(pair.target_token),
    dynamic_tag: '',
    ...Object.assign({}, ...WINDOWS.map((name) => windowFields(pair, name))),
  }
}

function sideOf(side: 'token0' | 'token1', reference: Reference, pair: ReferencePair, token: string): Expected {
  const facts = reference.tokens.get(token)
  const isTarget = token === pair.target_token
  return {
    [`${side}_address`]: token,
    [`${side}_symbol`]: facts?.symbol ?? '',
    [`${side}_decimal`]: facts?.decimals ?? null,
    [`${side}_price_usd`]: isTarget ? pair.price_usd : pair.quote_usd,
    [`${side}_price_eth`]: isTarget ? pair.price_native : (facts?.price_native ?? Number.NaN),
  }
}

function windowFields(pair: ReferencePair, name: (typeof WINDOWS)[number]): Expected {
  const window = windowNamed(pair.windows, name)
  return {
    [`price_change_${name}`]: windowChange(pair, name),
    [`volume_u_${name}`]: window.buy_volume + window.sell_volume,
    [`buy_volume_u_${name}`]: window.buy_volume,
    [`sell_volume_u_${name}`]: window.sell_volume,
    [`buyers_${name}`]: window.buyers,
    [`sellers_${name}`]: window.sellers,
    [`makers_${name}`]: window.makers,
    [`buys_tx_${name}_count`]: window.buys,
    [`sells_tx_${name}_count`]: window.sells,
    [`tx_${name}_count`]: window.buys + window.sells,
  }
}
