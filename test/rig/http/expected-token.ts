/** Expected `/v2/tokens/price` and `/v2/tokens/search`, from the reference. */
import type { Reference, ReferenceToken } from '../reference/recompute.js'
import { amountOf, changeOf, type Expected, exactDecimal } from './decimals.js'
import { windowChange, windowNamed } from './expected-pair.js'
import type { Launches } from './launches.js'

const SEARCH_WINDOWS = ['1m', '5m', '1h', '4h', '24h'] as const

export const UNCHECKED_OF_PRICE = ['updated_at']
/** Values copied from events, not computed; the fold's tests cover them. */
export const UNCHECKED_OF_TOKEN = [
  ...[
    'updated_at',
    'created_at',
    'launch_at',
    'logo_url',
    'appendix',
    'flags',
    'risk_score',
    'ave_risk_level',
    'is_honeypot',
  ],
  ...['is_mintable', 'is_in_blacklist', 'is_lp_not_locked', 'has_mint_method', 'has_black_method'],
  ...['has_not_renounced', 'has_not_open_source', 'has_not_audited', 'risk_level', 'risk_info', 'bundle_wallet_rate'],
  ...['cluster_wallet_rate', 'insider_wallet_rate', 'phishing_wallet_rate', 'rug_risk_rate'],
]

export function expectedPrice(reference: Reference, address: string, token: ReferenceToken): Expected {
  const main = token.main_pair === null ? undefined : reference.pairs.get(token.main_pair)
  const day = windowNamed(token.windows, '24h')
  const value = amountOf(supplyLeft(token), token.decimals) * token.price_usd
  return {
    token_id: `${address}-${reference.chain}`,
    current_price_usd: token.price_usd,
    price_change_1d: main === undefined ? Number.NaN : changeOf(main.price_day_usd, main.price_usd),
    price_change_24h: main === undefined ? Number.NaN : windowChange(main, '24h'),
    tvl: token.tvl,
    market_cap: value,
    fdv: value,
    holders: token.holders > 0 ? token.holders : null,
    tx_volume_u_24h: day.buy_volume + day.sell_volume,
  }
}

export function expectedToken(
  reference: Reference,
  address: string,
  token: ReferenceToken,
  launches: Launches,
): Expected {
  const main = token.main_pair === null ? undefined : reference.pairs.get(token.main_pair)
  const day = windowNamed(token.windows, '24h')
  const { token_id: _, ...prices } = expectedPrice(reference, address, token)
  const unknown = { lock_amount: null, other_amount: null, locked_percent: null }
  return {
    ...{ token: address, chain: reference.chain, name: token.name ?? '', symbol: token.symbol ?? '' },
    ...{ decimal: token.decimals, total: exactDecimal(token.total_supply, token.decimals), intro_en: '' },
    ...{ intro_cn: '', lock_platform: '' },
    ...prices,
    ...unknown,
    launch_price: token.launch_price ?? Number.NaN,
    burn_amount: exactDecimal(burntOf(token), token.decimals),
    current_price_eth: token.price_native,
    main_pair: token.main_pair ?? '',
    main_pair_tvl: main?.tvl ?? Number.NaN,
    tx_count_24h: day.buys + day.sells,
    tx_amount_24h: day.amount,
    issue_platform: launches.platformOf(address),
    ...Object.assign({}, ...SEARCH_WINDOWS.map((name) => windowFields(reference, token, name))),
    token_price_24h_high: day.high,
    token_price_24h_low: day.low,
  }
}

/** Without holders no balance was seen, so the burnt supply is unknown. */
const burntOf = ({ burnt_supply, holders }: ReferenceToken): string | null => burnt_supply ?? (holders > 0 ? '0' : null)

function supplyLeft(token: ReferenceToken): string | null {
  if (token.total_supply === null) return null
  const circulating = BigInt(token.total_supply) - BigInt(burntOf(token) ?? 0)
  return String(circulating > 0n ? circulating : 0n)
}

function windowFields(reference: Reference, token: ReferenceToken, name: (typeof SEARCH_WINDOWS)[number]): Expected {
  const main = token.main_pair === null ? undefined : reference.pairs.get(token.main_pair)
  const window = windowNamed(token.windows, name)
  return {
    [`token_price_change_${name}`]: main === undefined ? Number.NaN : windowChange(main, name),
    [`token_tx_count_${name}`]: window.buys + window.sells,
    [`token_tx_volume_usd_${name}`]: window.buy_volume + window.sell_volume,
    [`token_buy_tx_count_${name}`]: window.buys,
    [`token_sell_tx_count_${name}`]: window.sells,
    [`token_buy_tx_volume_usd_${name}`]: window.buy_volume,
    [`token_sell_tx_volume_usd_${name}`]: window.sell_volume,
    [`token_buyers_${name}`]: window.buyers,
    [`token_sellers_${name}`]: window.sellers,
    [`token_makers_${name}`]: window.makers,
  }
}
