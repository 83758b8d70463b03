/** The push interface: topics with their params, the fields of every push, error codes. */
import { fields, withFields, words } from './fields.js'
import { REST_RECORDS } from './rest-records.js'

export type Topic = {
  topic: string
  /** Params after the topic: single values, one or more arrays of values, or one array of ids. */
  form: 'values' | 'arrays' | 'ids'
  names: readonly string[]
}

export const TOPICS: readonly Topic[] = [
  { topic: 'tx', form: 'values', names: ['pair address', 'chain'] },
  { topic: 'multi_tx', form: 'values', names: ['token address', 'chain'] },
  { topic: 'liq', form: 'values', names: ['pair address', 'chain'] },
  { topic: 'kline', form: 'values', names: ['pair address', 'interval', 'chain'] },
  { topic: 'multi_kline', form: 'arrays', names: ['pair address', 'interval', 'chain'] },
  { topic: 'price', form: 'ids', names: ['token-id', 'pair-id'] },
]

export const INTERVALS = words('s1 k1 k5 k15 k30 k60 k120 k240 k1440 k10080')

export const RPC_ERRORS = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  limitExceeded: -32005,
} as const

export const ENVELOPE = fields({ whole: 'id', text: 'jsonrpc', object: 'result', timeMs: 'sent_time' })

const SWAP_OF_TOKEN = fields({
  text: `amm chain from_address from_symbol id pair_address sender target_token to to_address to_symbol transaction
    wallet_address direction pair_type`,
  decimal: `amount_eth amount_usd from_amount from_price_eth from_price_usd from_reserve pair_liquidity_eth
    pair_liquidity_usd to_amount to_price_eth to_price_usd to_reserve tvl`,
  whole: 'block_number tx_swap_type',
  time: 'time',
  tags: 'wallet_tag',
})

/** The field `tx` of a swap, by topic. */
export const SWAPS = {
  tx: [...SWAP_OF_TOKEN, ...fields({ text: 'profile tx_seq' })],
  multi_tx: SWAP_OF_TOKEN,
}

/** A swap's `profile`, decoded. */
export const PROFILE = fields({
  number: 'token0TotalHolding token1TotalHolding solTotalHolding',
  text: 'token0Address token1Address',
  boolean: `token0HasNewAccount token0HasClosedAccount token0HasClearedAccount token1HasNewAccount
    token1HasClosedAccount token1HasClearedAccount`,
})

export const KLINE = fields({ text: 'id interval topic', object: 'kline' })

/** Fields that Dextape adds to a kline. */
export const KLINE_EXTRAS = words('cursor final corrected removed pump_pair_id')

/** `kline.eth` and `kline.usd`. */
export const CANDLES = {
  eth: fields({ decimal: 'open high low close volume', time: 'time' }),
  usd: fields({
    decimal: 'open high low close volume amount_24h change change_v2 count_24h high_24h low_24h volume_24h',
    text: 'swap',
    time: 'time',
  }),
}

/** `result.data` where a token's main pair changed. */
export const SWITCH = fields({
  text: 'chain event id new_main_pair old_main_pair tag token',
  object: 'new_main_pair_data',
})

export const NEW_MAIN_PAIR = fields({
  text: `amm chain pair tag target_token token0_address token0_symbol token1_address token1_symbol`,
  numberOrNull: 'init_reserve0 init_reserve1 reserve0 reserve1 tvl',
  wholeOrNull: 'token0_decimal token1_decimal',
})

/** An element of `result.prices`. */
export const PRICE_ENTRY = fields({
  text: 'chain pair target_token direction token_id token pair_id',
  boolean: 'is_main_pair',
  decimal: `uprice last_price reserve0 reserve1 price_change price_change_24h volume_24_u change tvl makers_24h
    tx_amount_24h tx_count_24h`,
  time: 'time',
})

/** The history item with extra fields; unknown values are "" as in every push. */
export const LIQUIDITY = withFields(
  REST_RECORDS.liquidity,
  fields({
    text: 'id pair_address',
    decimal: 'amount0 amount1 amount_eth amount_usd token0_price_usd token1_price_usd',
    time: 'time',
  }),
)

/** Sent on `tx` and `liq` subscriptions of a pair whose blocks a reorg orphaned. */
export const RETRACT = fields({ text: 'topic id chain cursor', whole: 'to_block', list: 'ids' })
