/** Builders for updates; every field has a simple default. */
import { UPDATE_WINDOWS } from '../../services/core/domain/chains.js'
import { type Candle, packCandles } from '../../services/core/domain/packed-candles.js'
import {
  type PackedWindows,
  packWindows,
  unpackWindows,
  type Window,
} from '../../services/core/domain/packed-windows.js'
import type {
  BlockUpdate,
  PairInfo,
  PairUpdate,
  TokenInfo,
  TokenUpdate,
  Trade,
} from '../../services/core/domain/records.js'

export const CHAIN = 'eth'
export const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
export const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
export const TOKEN = `0x${'11'.repeat(20)}`
export const PAIR = `0x${'aa'.repeat(20)}`
export const OTHER_PAIR = `0x${'bb'.repeat(20)}`
/** 00:00 UTC on a Tuesday. */
export const DAY_S = 1_700_006_400
export const T0 = DAY_S + 36_000

export const pairInfo = (given: Partial<PairInfo> = {}): PairInfo => ({
  amm: 'uniswapv2',
  token0: TOKEN,
  token1: WETH,
  target: 0,
  fee: 3000,
  creator: null,
  created_at: T0 - 1000,
  created_block: 90,
  share_supply: null,
  ...given,
})

export const window = (given: Partial<Window> = {}): Window => ({
  buy_volume: 30,
  sell_volume: 12.5,
  buys: 3,
  sells: 2,
  buyers: 2,
  sellers: 1,
  makers: 3,
  amount: 21,
  high: 2.5,
  low: 1.5,
  price_before: 1.6,
  ...given,
})

export const updateWindows = (given: Partial<Window> = {}): Window[] => UPDATE_WINDOWS.map(() => window(given))

export const candle = (given: Partial<Candle> = {}): Candle => ({
  interval: 'k1',
  time: T0,
  open_u: 1,
  first_u: 1.1,
  high_u: 2.5,
  low_u: 0.5,
  close_u: 2,
  volume_u: 100,
  open_m: 0.001,
  first_m: 0.0011,
  high_m: 0.0025,
  low_m: 0.0005,
  close_m: 0.002,
  volume_m: 0.1,
  open_r: 0.001,
  first_r: 0.0011,
  high_r: 0.0025,
  low_r: 0.0005,
  close_r: 0.002,
  volume_r: 0.1,
  removed: false,
  ...given,
})

export const trade = (given: Partial<Trade> = {}): Trade => ({
  tx_index: 1,
  log_index: 7,
  sub: 0,
  tx_hash: '0xhash',
  id: '101-7',
  tx_seq: 42,
  sell: false,
  sender: '0xsender',
  recipient: '0xrecipient',
  wallet: '0xwallet',
  amount_in: '1000000000000000',
  amount_out: '500000000',
  reserve0: '5000000000000',
  reserve1: '2000000000000000000',
  price_usd: 2,
  price_native: 0.002,
  price_quote: 0.002,
  quote_usd: 1000,
  quote_native: 1,
  amount_usd: 1,
  amount_native: 0.001,
  flags: 0,
  quote_path: 'native',
  profile: null,
  ...given,
})

export type GivenPair = Partial<Omit<PairUpdate, 'windows' | 'candles'>> & { windows?: Window[]; candles?: Candle[] }
export type GivenToken = Partial<Omit<TokenUpdate, 'windows'>> & { windows?: Window[] }

export const pairUpdate = ({ windows = updateWindows(), candles = [], ...given }: GivenPair = {}): PairUpdate => ({
  pair: PAIR,
  info: pairInfo(),
  price_usd: 2,
  price_native: 0.002,
  price_quote: 0.002,
  last_price_usd: 1.6,
  price_day_usd: 1.25,
  quote_usd: 1000,
  open_price_usd: 0.5,
  ath_usd: 3,
  reserve0: '5000000000000',
  reserve1: '2000000000000000000',
  init_reserve0: '1000000000',
  init_reserve1: '1000000000000000000',
  tvl: 4000,
  liquidity_usd: 2000,
  liquidity_native: 2,
  tx_count: 42,
  first_trade_at: T0 - 900,
  first_trade_block: 91,
  last_trade_at: T0 + 1,
  updated_at: T0 + 1,
  windows: packWindows(windows),
  candles: packCandles(candles),
  trades: [],
  liquidity: [],
  ...given,
})

export const tokenInfo = (given: Partial<TokenInfo> = {}): TokenInfo => ({
  name: 'Token',
  symbol: 'TKN',
  decimals: 6,
  total_supply: '1000000000000',
  owner: null,
  risk: null,
  logo_url: null,
  links: null,
  created_at: T0 - 1000,
  launch_platform: null,
  launch_stage: null,
  launch_progress: Number.NaN,
  launch_pool: null,
  launch_at: 0,
  burnt_supply: null,
  launch_price: null,
  holders_since: null,
  ...given,
})

export const tokenUpdate = ({ windows = updateWindows(), ...given }: GivenToken = {}): TokenUpdate => ({
  token: TOKEN,
  info: tokenInfo(),
  price_usd: 2,
  price_native: 0.002,
  main_pair: PAIR,
  tvl: 4000,
  holders: 12,
  updated_at: T0 + 1,
  windows: packWindows(windows),
  ...given,
})

export const weth = (given: GivenToken = {}): TokenUpdate =>
  tokenUpdate({
    token: WETH,
    info: tokenInfo({ name: 'Wrapped Ether', symbol: 'WETH', decimals: 18, total_supply: null }),
    price_usd: 1000,
    price_native: 1,
    main_pair: null,
    tvl: Number.NaN,
    ...given,
  })

export const update = (given: Partial<BlockUpdate> = {}): BlockUpdate => ({
  chain: CHAIN,
  epoch: 1,
  seq: 1,
  kind: 'block',
  number: 100,
  hash: '0xb100',
  time: T0 + 1,
  now: T0 + 1,
  finalized_number: 80,
  part: 0,
  last_part: 0,
  pairs: [],
  tokens: [],
  main_pair_changes: [],
  retracted: [],
  gone_tokens: [],
  moved_pairs: [],
  moved_tokens: [],
  ...given,
})

/** The first update of a chain with one pair, its two tokens and a second pair. */
export const firstUpdate = (trades: Trade[] = []): BlockUpdate =>
  update({
    pairs: [
      pairUpdate({ candles: [candle()], trades }),
      pairUpdate({ pair: OTHER_PAIR, tx_count: 0, price_usd: Number.NaN }),
    ],
    tokens: [tokenUpdate(), weth()],
  })

/** An entry's columns as the sink stores them. */
export const storedColumns = <Entry extends PairUpdate | TokenUpdate>({ info, ...state }: Entry) => {
  return { ...info, ...state, is_deleted: 0 }
}

/** An entry as earlier versions stored it, in the `state` column. */
export const storedText = <Entry extends { windows: PackedWindows }>(entry: Entry): string =>
  JSON.stringify({ ...entry, windows: unpackWindows(entry.windows) })
