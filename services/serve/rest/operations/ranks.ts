import { Type } from '@sinclair/typebox'
import { DEEP_TVL_USD } from '../../../core/domain/money.js'
import type { TokenState } from '../../memory/served-chain.js'
import { dayMakers, dayTrades } from '../../memory/windows.js'
import { decimal, decimalOrNull, fieldsOf, text } from '../../views/field-formats.js'
import type { Market } from '../../views/market-facts.js'
import { byMeasure, createShortlist, type Ranked, TOKEN_MEASURES, type TokenMeasure } from '../../views/ranking.js'
import {
  tokenChange,
  tokenFields,
  tokenView,
  tokenWindow,
  tokenWindowsSchema,
  tokenWindowsView,
} from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, limitOf, resolveChains } from '../parameters.js'
import { badRequest } from '../problem.js'
import { demand, isMoney } from './tokens-trending.js'

const DEFAULT_LIMIT = 200
const MAX_LIMIT = 300

/** A change of a token that few traded, or without a deep pool, says nothing. */
const LEAST_MAKERS = 10

type Rank = {
  name_en: string
  name_zh: string
  measure: TokenMeasure
  includes(market: Market, token: TokenState): boolean
}

const isTraded = (token: TokenState): boolean => dayTrades(token.windows) > 0
const isBroad = (token: TokenState): boolean => token.tvl >= DEEP_TVL_USD && dayMakers(token.windows) >= LEAST_MAKERS
const changeOf: TokenMeasure = (market, token) => Number(tokenChange(market, token, '24h') ?? Number.NaN)

const RANKS: Readonly<Record<string, Rank>> = {
  hot: {
    ...{ name_en: 'Hot', name_zh: '热门' },
    measure: (_market, token) => demand(token),
    includes: (market, token) => isTraded(token) && !Number.isNaN(token.tvl) && !isMoney(market, token),
  },
  meme: {
    ...{ name_en: 'Meme', name_zh: '模因' },
    measure: TOKEN_MEASURES.tx_volume_u_24h,
    includes: (_market, token) => token.info.launch_platform !== null && isTraded(token),
  },
  gainer: {
    ...{ name_en: 'Gainers', name_zh: '涨幅榜' },
    measure: changeOf,
    includes: (market, token) => isBroad(token) && !isMoney(market, token) && changeOf(market, token) > 0,
  },
  loser: {
    ...{ name_en: 'Losers', name_zh: '跌幅榜' },
    measure: (market, token) => -changeOf(market, token),
    includes: (market, token) => isBroad(token) && !isMoney(market, token) && changeOf(market, token) < 0,
  },
  new: {
    ...{ name_en: 'New', name_zh: '新币' },
    measure: TOKEN_MEASURES.created_at,
    includes: (_market, token) => token.info.created_at > 0 && isTraded(token),
  },
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
  }),
  data: Type.Array(
    Type.Object({
      ...tokenFields,
      ...tokenWindowsSchema,
      ...fieldsOf(['token_buy_volume_u_5m', 'token_sell_volume_u_5m'], decimal),
    }),
  ),
  handle({ chains }, { query }) {
    const { topic, limit = DEFAULT_LIMIT } = query
    const markets = resolveChains(chains, query.chain)
    const names = markets.map(({ state }) => state.chain)
    if (topic in THEMES) return { data: [], chains: names, reason: 'topic_without_rule' }
    const ofChain = chains.market(topic)
    if (ofChain === undefined && topic in CHAIN_TOPICS) return { data: [], chains: names, reason: 'chain_unknown' }
    const rank = ofChain === undefined ? RANKS[topic] : RANKS.hot
    if (rank === undefined) {
      const known = [...Object.keys(RANKS), ...Object.keys(CHAIN_TOPICS), ...Object.keys(THEMES)].join(', ')
      throw badRequest('topic_unknown', `Unknown \`topic\` "${topic}". Expected one of ${known}.`)
    }
    const asked = ofChain === undefined ? markets : markets.filter((market) => market === ofChain)
    const listed = createShortlist<Ranked>(limit, byMeasure)
    for (const market of asked) {
      for (const token of market.state.tokens.values())
        if (rank.includes(market, token)) listed.offer({ market, token, measure: rank.measure(market, token) })
    }
    const data = listed.items().map(({ market, token }) => rankedView(market, token))
    return {
      data,
      chains: asked.map(({ state }) => state.chain),
      ...(data.length === 0 ? { reason: 'no_trades' } : {}),
    }
  },
})

function rankedView(market: Market, token: TokenState) {
  const window = tokenWindow(market, token, '5m')
  return {
    ...tokenView(market, token),
    ...tokenWindowsView(market, token),
    token_buy_volume_u_5m: decimalOrNull(window.buy_volume),
    token_sell_volume_u_5m: decimalOrNull(window.sell_volume),
  }
}
