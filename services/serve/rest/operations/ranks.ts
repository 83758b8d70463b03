import { Type } from '@sinclair/typebox'
import { DEEP_TVL_USD } from '../../../core/domain/money.js'
import type { TokenState } from '../../memory/served-chain.js'
import { dayMakers, dayTrades } from '../../memory/windows.js'
import { decimal, decimalOrNull, fieldsOf, text } from '../../views/field-formats.js'
import { type Market, tokenPriceUsd } from '../../views/market-facts.js'
import { byMeasure, createShortlist, type Ranked, TOKEN_MEASURES } from '../../views/ranking.js'
import {
  tokenChange,
  tokenFields,
  tokenValueUsd,
  tokenWindow,
  tokenWindowsSchema,
  tokenWindowsView,
} from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, limitOf, resolveChains } from '../parameters.js'
import { badRequest } from '../problem.js'
import { viewTokens } from '../view-tokens.js'
import { demand, demandOf, isMoney } from './tokens-trending.js'

const DEFAULT_LIMIT = 200
const MAX_LIMIT = 300
const MAX_OFFSET = 10_000

/** A change of a token that few traded, or without a deep pool, says nothing. */
const LEAST_MAKERS = 10

const RANK_WINDOWS = ['5m', '1h', '4h', '24h'] as const
type RankWindow = (typeof RANK_WINDOWS)[number]
const WINDOWS_PER_DAY: Readonly<Record<RankWindow, number>> = { '5m': 288, '1h': 24, '4h': 6, '24h': 1 }
type WindowMeasure = (market: Market, token: TokenState, window: RankWindow) => number

type Rank = {
  name_en: string
  name_zh: string
  measure: WindowMeasure
  includes(market: Market, token: TokenState, window: RankWindow): boolean
}

const isTraded = (token: TokenState): boolean => dayTrades(token.windows) > 0
const isBroad = (token: TokenState): boolean => token.tvl >= DEEP_TVL_USD && dayMakers(token.windows) >= LEAST_MAKERS
const changeOf: WindowMeasure = (market, token, window) => Number(tokenChange(market, token, window) ?? Number.NaN)

/** The score of trending, from the trades of the window alone if it is shorter than a day. */
const demandIn: WindowMeasure = (market, token, window) => {
  if (Number.isNaN(token.tvl) || isMoney(market, token)) return Number.NaN
  if (window === '24h') return demand(token)
  const { buy_volume, sell_volume, makers } = tokenWindow(market, token, window)
  return demandOf((buy_volume + sell_volume) * WINDOWS_PER_DAY[window], token.tvl, makers)
}

/** Figures that `orderby` accepts; those of a window are of the requested one. */
const ORDERS = {
  demand: demandIn,
  price_change: changeOf,
  volume: (market, token, window) => {
    const { buy_volume, sell_volume } = tokenWindow(market, token, window)
    return buy_volume + sell_volume
  },
  tx_count: (market, token, window) => {
    const { buys, sells } = tokenWindow(market, token, window)
    return buys + sells
  },
  makers: (market, token, window) => tokenWindow(market, token, window).makers,
  tvl: (_market, token) => token.tvl,
  market_cap: tokenValueUsd,
  price: tokenPriceUsd,
  created_at: (_market, { info }) => (info.created_at > 0 ? info.created_at : Number.NaN),
} satisfies Record<string, WindowMeasure>
const ORDER_NAMES = Object.keys(ORDERS) as (keyof typeof ORDERS)[]

const RANKS: Readonly<Record<string, Rank>> = {
  hot: {
    ...{ name_en: 'Hot', name_zh: '热门' },
    measure: demandIn,
    includes: (market, token) => isTraded(token) && !Number.isNaN(token.tvl) && !isMoney(market, token),
  },
  meme: {
    ...{ name_en: 'Meme', name_zh: '模因' },
    measure: ORDERS.volume,
    includes: (_market, token) => token.info.launch_platform !== null && isTraded(token),
  },
  gainer: {
    ...{ name_en: 'Gainers', name_zh: '涨幅榜' },
    measure: changeOf,
    includes: (market, token, window) =>
      isBroad(token) && !isMoney(market, token) && changeOf(market, token, window) > 0,
  },
  loser: {
    ...{ name_en: 'Losers', name_zh: '跌幅榜' },
    measure: (market, token, window) => -changeOf(market, token, window),
    includes: (market, token, window) =>
      isBroad(token) && !isMoney(market, token) && changeOf(market, token, window) < 0,
  },
  new: {
    ...{ name_en: 'New', name_zh: '新币' },
    measure: TOKEN_MEASURES.created_at,
    includes: (_market, token) => token.info.created_at > 0 && isTraded(token),
  },
}

/** Beside the listed topics: all that was traded, to be sorted by `orderby`. */
const UNLISTED: Readonly<Record<string, Pick<Rank, 'measure' | 'includes'>>> = {
  traded: { measure: ORDERS.volume, includes: (_market, token) => isTraded(token) },
}

/** Chains that programs ask for by name, indexed or not. */
const CHAIN_TOPICS: Readonly<Record<string, string>> = {
  ...{ eth: 'Ethereum', bsc: 'BNB Chain', solana: 'Solana', base: 'Base', arbitrum: 'Arbitrum' },
  ...{ optimism: 'Optimism', polygon: 'Polygon', avalanche: 'Avalanche' },
}

/** No data of a chain says what a token is about. */
const THEMES: Readonly<Record<string, string>> = { ai: 'AI', depin: 'DePIN', gamefi: 'GameFi', rwa: 'RWA', l2: 'L2' }

export const ranksTopics = operation({
  id: 'ranksTopics',
  method: 'GET',
  path: '/v2/ranks/topics',
  summary: 'Topics of the token ranks',
  costCu: 5,
  envelope: true,
  params: Type.Object({}),
  query: Type.Object({}),
  data: Type.Array(Type.Object(fieldsOf(['id', 'name_en', 'name_zh'], text))),
  handle({ chains }) {
    const indexed = chains.markets().map(({ state }) => state.chain)
    const named = { ...Object.fromEntries(indexed.map((chain) => [chain, chain])), ...CHAIN_TOPICS, ...THEMES }
    const ranks = Object.entries(RANKS).map(([id, { name_en, name_zh }]) => ({ id, name_en, name_zh }))
    const others = Object.entries(named).map(([id, name]) => ({ id, name_en: name, name_zh: name }))
    return { data: [...ranks, ...others], chains: indexed }
  },
})

export const ranks = operation({
  id: 'ranks',
  method: 'GET',
  path: '/v2/ranks',
  summary: 'Tokens ranked by a topic',
  costCu: 5,
  envelope: true,
  params: Type.Object({}),
  query: Type.Object({
    topic: Type.String({ minLength: 1, maxLength: 64, description: 'Id of a topic', examples: ['hot'] }),
    chain: Type.Optional(ChainName),
    limit: limitOf('tokens', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET,
        default: 0,
        description: 'Places to skip, to read the next ones',
      }),
    ),
    orderby: Type.Optional(
      Type.Union(
        ORDER_NAMES.map((name) => Type.Literal(name)),
        {
          description: 'Sort key instead of that of the topic; tokens without the figure come last',
        },
      ),
    ),
    order: Type.Optional(
      Type.Union([Type.Literal('desc'), Type.Literal('asc')], { default: 'desc', description: 'Order of `orderby`' }),
    ),
    window: Type.Optional(
      Type.Union(
        RANK_WINDOWS.map((name) => Type.Literal(name)),
        {
          default: '24h',
          description: 'Window of the topics, except `new`, and of the sort keys that have one',
        },
      ),
    ),
  }),
  data: Type.Array(
    Type.Object({
      ...tokenFields,
      ...tokenWindowsSchema,
      ...fieldsOf(['token_buy_volume_u_5m', 'token_sell_volume_u_5m'], decimal),
    }),
  ),
  async handle({ chains, launches }, { query }) {
    const { topic, limit = DEFAULT_LIMIT, offset = 0, window = '24h' } = query
    const markets = resolveChains(chains, query.chain)
    const names = markets.map(({ state }) => state.chain)
    if (topic in THEMES) return { data: [], chains: names, reason: 'topic_without_rule' }
    const ofChain = chains.market(topic)
    if (ofChain === undefined && topic in CHAIN_TOPICS) return { data: [], chains: names, reason: 'chain_unknown' }
    const rank = ofChain === undefined ? (RANKS[topic] ?? UNLISTED[topic]) : RANKS.hot
    if (rank === undefined) {
      const known = [
        ...Object.keys({ ...RANKS, ...UNLISTED }),
        ...Object.keys(CHAIN_TOPICS),
        ...Object.keys(THEMES),
      ].join(', ')
      throw badRequest('topic_unknown', `Unknown \`topic\` "${topic}". Expected one of ${known}.`)
    }
    const asked = ofChain === undefined ? markets : markets.filter((market) => market === ofChain)
    const measure: WindowMeasure = query.orderby === undefined ? rank.measure : ORDERS[query.orderby]
    const sign = query.orderby !== undefined && query.order === 'asc' ? -1 : 1
    const listed = createShortlist<Ranked>(offset + limit, byMeasure)
    for (const market of asked) {
      for (const token of market.state.tokens.values())
        if (rank.includes(market, token, window))
          listed.offer({ market, token, measure: sign * measure(market, token, window) })
    }
    const places = listed.items().slice(offset)
    const { views: data, isProvisional } = await viewTokens(launches, places, (view, token, { market }) => ({
      ...view,
      ...rankedFields(market, token),
    }))
    return {
      data,
      chains: asked.map(({ state }) => state.chain),
      isProvisional,
      ...(data.length === 0 ? { reason: 'no_trades' } : {}),
    }
  },
})

function rankedFields(market: Market, token: TokenState) {
  const window = tokenWindow(market, token, '5m')
  return {
    ...tokenWindowsView(market, token),
    token_buy_volume_u_5m: decimalOrNull(window.buy_volume),
    token_sell_volume_u_5m: decimalOrNull(window.sell_volume),
  }
}
