/** Fields of every record in REST answers. */
import { type Field, fields, fieldsOfWindows, withFields } from './fields.js'

const price = fields({
  text: 'token_id',
  decimalOrNull: 'current_price_usd price_change_1d price_change_24h tvl market_cap fdv tx_volume_u_24h',
  wholeOrNull: 'holders',
  time: 'updated_at',
})

const token = fields({
  text: `token chain name symbol logo_url intro_en intro_cn appendix main_pair issue_platform risk_info lock_platform`,
  wholeOrNull: 'decimal holders tx_count_24h',
  decimalOrNull: `total current_price_usd current_price_eth price_change_1d price_change_24h market_cap fdv tvl
    main_pair_tvl tx_volume_u_24h tx_amount_24h burn_amount lock_amount other_amount locked_percent launch_price`,
  time: 'created_at launch_at updated_at',
  number: 'ave_risk_level risk_level is_honeypot',
  numberOrNull: `risk_score is_mintable is_in_blacklist is_lp_not_locked has_mint_method has_black_method
    has_not_renounced has_not_open_source has_not_audited bundle_wallet_rate cluster_wallet_rate insider_wallet_rate
    phishing_wallet_rate rug_risk_rate`,
})

const search = withFields(token, [
  ...fieldsOfWindows('1m 5m 1h 4h 24h', {
    decimalOrNull: `token_price_change_{w} token_tx_volume_usd_{w} token_buy_tx_volume_usd_{w}
      token_sell_tx_volume_usd_{w}`,
    wholeOrNull: `token_tx_count_{w} token_buy_tx_count_{w} token_sell_tx_count_{w} token_buyers_{w} token_sellers_{w}
      token_makers_{w}`,
  }),
  ...fields({ decimalOrNull: 'token_price_24h_high token_price_24h_low' }),
])

const detailToken = withFields(token, [
  ...fields({ decimal: 'current_price_usd market_cap tvl' }),
  ...fieldsOfWindows('5m 1h 4h 24h', { decimalOrNull: 'token_price_change_{w} token_tx_volume_usd_{w}' }),
  ...fieldsOfWindows('5m', {
    wholeOrNull: 'token_buy_tx_count_{w} token_sell_tx_count_{w} token_buyers_{w} token_sellers_{w}',
    decimalOrNull: 'token_buy_tx_volume_usd_{w} token_sell_tx_volume_usd_{w}',
  }),
])

const detailPair = fields({
  text: 'pair chain amm token0_address token0_symbol token1_address token1_symbol target_token',
  wholeOrNull: 'token0_decimal token1_decimal tx_count',
  decimal: 'price_change price_change_24h token0_price_usd token1_price_usd volume_u',
  decimalOrNull: `reserve0 reserve1 token0_price_eth token1_price_eth low_u high_u total_supply tx_amount price_change_1h
    price_change_1d market_cap fdv`,
  numberOrNull: 'fee is_fake',
  time: 'created_at updated_at',
})

const contract = fields({
  text: 'token chain token_name token_symbol owner previous_owner creator_address risk_info issue_platform holder_analysis',
  wholeOrNull: 'decimal holders pair_holders',
  decimalOrNull: 'total burn_amount lock_amount pair_total creator_balance owner_balance',
  number: 'is_honeypot risk_level is_in_dex',
  numberOrNull: `has_code is_proxy is_open_source has_mint_method has_black_method has_white_method transfer_pausable
    hidden_owner can_take_back_ownership owner_change_balance selfdestruct external_call is_anti_whale
    anti_whale_modifiable trading_cooldown slippage_modifiable personal_slippage_modifiable cannot_buy cannot_sell_all
    buy_tax sell_tax transfer_tax buy_gas sell_gas approve_gas token_lock_percent pair_lock_percent creator_percent
    owner_percent risk_score analysis_risk_score analysis_big_wallet analysis_creator_gt_5percent
    analysis_lp_current_adequate analysis_lp_current_volume analysis_scam_wallet`,
  list: 'dex token_holders_rank pair_holders_rank',
})

const holder = fields({
  text: 'holder address',
  numberOrNull: `balance_ratio balance_usd main_coin_balance amount_cur buy_amount_cur sell_amount_cur buy_volume_cur
    sell_volume_cur avg_purchase_price avg_sale_price realized_profit unrealized_profit total_profit`,
  wholeOrNull: 'buy_tx_count_cur sell_tx_count_cur',
  time: 'trade_first_at trade_last_at',
})

const mainToken = withFields(token, fields({ decimal: 'current_price_usd market_cap tvl' }))

const pair = [
  ...fields({
    text: `pair chain amm target_token token0_address token0_symbol token1_address token1_symbol tag dynamic_tag`,
    wholeOrNull: 'token0_decimal token1_decimal',
    decimalOrNull: `token0_price_eth token0_price_usd token1_price_eth token1_price_usd reserve0 reserve1 init_reserve0
      init_reserve1 tvl fdv market_cap open_price price_ath_u high_u low_u price_change_1d tx_amount`,
    time: 'created_at first_trade_at last_trade_at updated_at',
    whole: 'first_trade_block_number',
  }),
  ...fieldsOfWindows('1m 5m 15m 1h 4h 24h', {
    decimalOrNull: 'price_change_{w} volume_u_{w} buy_volume_u_{w} sell_volume_u_{w}',
    wholeOrNull: 'buyers_{w} sellers_{w} makers_{w} buys_tx_{w}_count sells_tx_{w}_count tx_{w}_count',
  }),
]

const klines = fields({
  text: 'pair_id target_token_id',
  interval: 'interval',
  whole: 'limit total_count',
  time: 'to_time',
  list: 'points',
})

const txs = fields({ text: 'pair_id', whole: 'limit total_count', time: 'to_time', list: 'txs' })

const swap = fields({
  text: `tx_hash chain amm pair_address from_token_address from_token_symbol to_token_address to_token_symbol
    sender_address to_address wallet_address`,
  time: 'tx_time',
  whole: 'block_number',
  decimalOrNull: `from_token_amount from_token_price_usd from_token_reserve to_token_amount to_token_price_usd
    to_token_reserve amount_usd pair_liquidity_usd`,
  tags: 'wallet_tag',
})

const liquidity = fields({
  text: `type token0_address token0_symbol token1_address token1_symbol transaction sender wallet_address amm chain pair`,
  time: 'tx_time',
  whole: 'block_number',
  decimalOrNull: 'amount0 amount1 amount_eth amount_usd token0_price_usd token1_price_usd',
})

/** By the answer each record appears in. */
export const REST_RECORDS = {
  price,
  search,
  keyword: token,
  detail: fields({ boolean: 'is_audited', list: 'pairs', object: 'token' }),
  detailToken,
  detailPair,
  contract,
  contractDex: fields({ text: 'amm name pair', decimalOrNull: 'liquidity' }),
  contractRank: fields({
    text: 'address mark',
    decimalOrNull: 'quantity',
    numberOrNull: 'percent',
    wholeOrNull: 'is_contract is_lp',
    list: 'lock',
  }),
  holder,
  main: mainToken,
  trending: fields({ wholeOrNull: 'current_page_size next_page total', list: 'tokens' }),
  trendingToken: token,
  platform: token,
  pair,
  klines,
  point: fields({ decimalOrNull: 'open high low close volume', time: 'time' }),
  tokenKlines: klines,
  swaps: txs,
  swap,
  liquidities: txs,
  liquidity,
} satisfies Record<string, readonly Field[]>

export type RestRecord = keyof typeof REST_RECORDS
