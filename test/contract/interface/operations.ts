/** The REST operations: path, cost, inputs with their limits and defaults, and the shape of the body. */
import { words } from './fields.js'

export type Input = {
  place: 'path' | 'query' | 'body'
  name: string
  type: 'string' | 'integer' | 'array'
  isRequired: boolean
  default?: string
  /** Maximum value of an integer, or maximum length of an array. */
  max?: number
  values?: readonly string[]
  examples?: readonly string[]
  /** Format of a string, or of each item of an array. */
  form?: 'token-id' | 'pair-id'
}

export type Operation = {
  method: 'GET' | 'POST'
  path: string
  costCu: number
  /** In the envelope by default. */
  isWrapped: boolean
  body: 'object' | 'array'
  /** This path is an alias of another operation and is not in the OpenAPI document. */
  aliasOf?: string
  /** The field that holds the items of a history operation. */
  items?: 'points' | 'txs'
  inputs: readonly Input[]
}

/** Every operation answers with one of these. */
export const STATUSES = [200, 400, 401, 403, 500]

/** Number of pairs in a token's detail. */
export const TOP_PAIRS = 5

export const PLATFORM_STAGES = words('in_almost in_hot in_new out_hot out_new')

export const HISTORY_INTERVAL_MINUTES = words('1 5 15 30 60 120 240 1440 4320 10080 43200 525600 2628000')

/** Prices in USD, in the chain's main coin, in the pair's quote token. */
export const CANDLE_CATEGORIES = ['u', 'm', 'r']

export const LIQUIDITY_TYPES = words('addLiquidity removeLiquidity createPair all')

export const MAX_TXS = 300

const idInPath = (form: 'token-id' | 'pair-id'): Input => ({
  ...{ place: 'path', name: form, type: 'string', isRequired: true, form },
})
const tokenIds = (max: number): Input => ({
  ...{ place: 'body', name: 'token_ids', type: 'array', isRequired: true, max, form: 'token-id' },
})
/** 0 disables it. */
const threshold = (name: string, standard: number): Input => ({
  ...{ place: 'body', name, type: 'integer', isRequired: false, default: String(standard) },
})
const text = (name: string, isRequired: boolean, examples?: readonly string[]): Input => ({
  ...{ place: 'query', name, type: 'string', isRequired, ...(examples && { examples }) },
})
const integer = (name: string, limits: { default?: number; max?: number } = {}): Input => ({
  ...{ place: 'query', name, type: 'integer', isRequired: false },
  ...(limits.default !== undefined && { default: String(limits.default) }),
  ...(limits.max !== undefined && { max: limits.max }),
})
/** Required if it has no default. */
const choice = (name: string, values: readonly string[], standard?: string): Input => ({
  ...{ place: 'query', name, type: 'string', isRequired: standard === undefined, values },
  ...(standard !== undefined && { default: standard }),
})

const BY_VOLUME = 'tx_volume_u_24h'

export const TOKEN_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'POST', path: '/v2/tokens/price', costCu: 100, isWrapped: true, body: 'object' },
    inputs: [tokenIds(200), threshold('tvl_min', 1000), threshold('tx_24h_volume_min', 0)],
  },
  {
    ...{ method: 'POST', path: '/v2/tokens/search', costCu: 100, isWrapped: true, body: 'object' },
    inputs: [tokenIds(50)],
  },
  {
    ...{ method: 'GET', path: '/v2/tokens', costCu: 5, isWrapped: false, body: 'array' },
    inputs: [
      text('keyword', true),
      text('chain', false),
      integer('limit', { default: 100, max: 300 }),
      choice('orderby', [BY_VOLUME, 'market_cap', 'main_pair_tvl', 'fdv'], BY_VOLUME),
    ],
  },
  {
    ...{ method: 'GET', path: '/v2/tokens/{token-id}', costCu: 5, isWrapped: true, body: 'object' },
    inputs: [idInPath('token-id')],
  },
  {
    ...{ method: 'GET', path: '/v2/contracts/{token-id}', costCu: 10, isWrapped: true, body: 'object' },
    inputs: [idInPath('token-id')],
  },
  {
    ...{ method: 'GET', path: '/v2/tokens/top100/{token-id}', costCu: 10, isWrapped: false, body: 'array' },
    inputs: [idInPath('token-id'), integer('limit', { default: 100, max: 100 })],
  },
  {
    ...{ method: 'GET', path: '/v2/tokens/main', costCu: 5, isWrapped: false, body: 'array' },
    inputs: [text('chain', true)],
  },
  {
    ...{ method: 'GET', path: '/v2/tokens/trending', costCu: 5, isWrapped: false, body: 'object' },
    inputs: [
      text('chain', true),
      integer('current_page', { default: 0 }),
      integer('page_size', { default: 50, max: 100 }),
    ],
  },
  {
    ...{ method: 'GET', path: '/v2/tokens/platform', costCu: 10, isWrapped: false, body: 'array' },
    inputs: [
      text('tag', true, ['meme', 'pump_in_hot', 'pump_in_new', 'pump_out_hot', 'pump_out_new']),
      integer('limit', { default: 100, max: 300 }),
      choice('orderby', [BY_VOLUME, 'main_pair_tvl'], BY_VOLUME),
    ],
  },
  {
    ...{ method: 'GET', path: '/v2/pairs/{pair-id}', costCu: 5, isWrapped: true, body: 'object' },
    inputs: [idInPath('pair-id')],
  },
]

const times = [integer('from_time'), integer('to_time')]
const candleInputs = [
  choice(
    'interval',
    [...HISTORY_INTERVAL_MINUTES, 's1', ...HISTORY_INTERVAL_MINUTES.map((minutes) => `k${minutes}`)],
    '60',
  ),
  integer('limit', { default: 300, max: 1000 }),
  ...times,
  choice('category', CANDLE_CATEGORIES, 'u'),
]
const txsInputs = [integer('limit', { max: MAX_TXS }), ...times, choice('sort', ['asc', 'desc'], 'asc')]

const candles = { method: 'GET', costCu: 10, isWrapped: true, body: 'object', items: 'points' } as const
const txs = { method: 'GET', costCu: 50, isWrapped: true, body: 'object', items: 'txs' } as const

export const HISTORY_OPERATIONS: readonly Operation[] = [
  { ...candles, path: '/v2/klines/pair/{pair-id}', inputs: [idInPath('pair-id'), ...candleInputs] },
  { ...candles, path: '/v2/klines/token/{token-id}', inputs: [idInPath('token-id'), ...candleInputs] },
  { ...txs, path: '/v2/txs/swap/{pair-id}', inputs: [idInPath('pair-id'), ...txsInputs] },
  {
    ...{ ...txs, path: '/v2/txs/{pair-id}', aliasOf: '/v2/txs/swap/{pair-id}' },
    inputs: [idInPath('pair-id'), ...txsInputs],
  },
  {
    ...{ ...txs, path: '/v2/txs/liq/{pair-id}' },
    inputs: [idInPath('pair-id'), ...txsInputs, choice('type', LIQUIDITY_TYPES, 'all')],
  },
]

export const OPERATIONS = [...TOKEN_OPERATIONS, ...HISTORY_OPERATIONS]
