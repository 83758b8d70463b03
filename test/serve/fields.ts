/** The fields each answer must have, as the interface's documents list them. */
const words = (text: string): string[] => text.trim().split(/\s+/)

const PAIR_WINDOWS = words('1m 5m 15m 1h 4h 24h')
const TOKEN_WINDOWS = words('1m 5m 1h 4h 24h')

export const TOKEN_FIELDS = words(`token chain name symbol decimal total logo_url intro_en appendix
  current_price_usd current_price_eth price_change_1d price_change_24h market_cap fdv tvl main_pair main_pair_tvl holders
  tx_volume_u_24h tx_count_24h tx_amount_24h burn_amount lock_amount other_amount locked_percent created_at launch_at
  launch_price updated_at risk_score ave_risk_level is_honeypot is_mintable is_in_blacklist is_lp_not_locked
  has_mint_method has_black_method has_not_renounced has_not_open_source has_not_audited issue_platform`)

export const FIELDS = {
  tokensPrice: words(`token_id current_price_usd price_change_1d price_change_24h tvl market_cap fdv holders
    tx_volume_u_24h updated_at`),
  tokensSearch: [
    ...TOKEN_FIELDS,
    ...TOKEN_WINDOWS.flatMap((w) =>
      words(`token_price_change_${w} token_tx_count_${w} token_tx_volume_usd_${w} token_buy_tx_count_${w}
        token_sell_tx_count_${w} token_buy_tx_volume_usd_${w} token_sell_tx_volume_usd_${w} token_buyers_${w}
        token_sellers_${w} token_makers_${w}`),
    ),
    ...words('token_price_24h_high token_price_24h_low'),
  ],
  pairDetail: [
    ...words(`pair chain amm target_token token0_address token0_symbol token0_decimal token0_price_eth token0_price_usd
      token1_address token1_symbol token1_decimal token1_price_eth token1_price_usd reserve0 reserve1 init_reserve0
      init_reserve1 tvl fdv market_cap open_price price_ath_u high_u low_u price_change_1d tx_amount created_at
      first_trade_at first_trade_block_number last_trade_at updated_at tag dynamic_tag`),
    ...PAIR_WINDOWS.flatMap((w) =>
      words(`price_change_${w} volume_u_${w} buy_volume_u_${w} sell_volume_u_${w} buyers_${w} sellers_${w} makers_${w}
        buys_tx_${w}_count sells_tx_${w}_count tx_${w}_count`),
    ),
  ],
  tokenPair:
    words(`pair chain amm token0_address token0_symbol token0_decimal token1_address token1_symbol token1_decimal
    target_token reserve0 reserve1 token0_price_eth token0_price_usd token1_price_eth token1_price_usd price_change
    price_change_24h volume_u low_u high_u fee total_supply tx_amount tx_count created_at updated_at`),
  contracts: words(`token chain token_name token_symbol decimal total holders owner creator_address has_code is_proxy
    is_open_source has_mint_method has_black_method has_white_method transfer_pausable hidden_owner
    can_take_back_ownership owner_change_balance selfdestruct external_call is_anti_whale anti_whale_modifiable
    trading_cooldown slippage_modifiable personal_slippage_modifiable cannot_buy cannot_sell_all is_honeypot buy_tax
    sell_tax transfer_tax buy_gas sell_gas approve_gas burn_amount lock_amount token_lock_percent pair_lock_percent
    pair_holders pair_total creator_balance creator_percent owner_balance owner_percent dex token_holders_rank
    pair_holders_rank risk_level risk_score risk_info is_in_dex issue_platform`),
  klinesPair: words('pair_id interval limit to_time total_count target_token_id points'),
  tx: words(`amm amount_eth amount_usd block_number chain from_address from_amount from_price_eth from_price_usd
    from_reserve from_symbol id pair_address pair_liquidity_eth pair_liquidity_usd profile sender target_token time to
    to_address to_amount to_price_eth to_price_usd to_reserve to_symbol transaction tx_seq tx_swap_type wallet_address
    wallet_tag direction tvl pair_type`),
  klineEth: words('open high low close volume time'),
  klineUsd: words(`open high low close volume amount_24h change change_v2 count_24h high_24h low_24h swap volume_24h
    time`),
  priceEntry: words(`chain pair is_main_pair target_token uprice last_price reserve0 reserve1 price_change
    price_change_24h volume_24_u direction time change tvl makers_24h tx_amount_24h tx_count_24h`),
  switchData: words('chain event id new_main_pair old_main_pair tag token new_main_pair_data'),
  newMainPairData: words(`amm chain init_reserve0 init_reserve1 pair reserve0 reserve1 tag target_token token0_address
    token0_decimal token0_symbol token1_address token1_decimal token1_symbol tvl`),
} as const

export function missingFields(kind: keyof typeof FIELDS, answer: object): string[] {
  return FIELDS[kind].filter((field) => !(field in answer))
}
