import { Type } from '@sinclair/typebox'
import { firstOf } from '../../lists/first.js'
import { type PlatformTag, readTag, TAG_FORMS } from '../../lists/platform-tag.js'
import { byMeasure, type ListedToken, type Ranked, TOKEN_MEASURES, tokensOf } from '../../lists/token-order.js'
import type { Market } from '../../views/market.js'
import { TokenView, tokenView } from '../../views/token-view.js'
import { ChainName, resolveChains } from '../ids.js'
import { operation } from '../operation.js'
import { badRequest } from '../problem.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 300

export const tokensPlatform = operation({
  id: 'tokensPlatform',
  method: 'GET',
  path: '/v2/tokens/platform',
  summary: 'Tokens by launch platform: on the bonding curve (in), close to graduating (almost), graduated (out)',
  costCu: 10,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({
    tag: Type.String({ minLength: 1, maxLength: 64, description: TAG_FORMS, examples: ['pump_in_hot', 'meme'] }),
    chain: Type.Optional(ChainName),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        default: DEFAULT_LIMIT,
        description: 'Most tokens in the answer',
      }),
    ),
    orderby: Type.Optional(
      Type.Union([Type.Literal('tx_volume_u_24h'), Type.Literal('main_pair_tvl'), Type.Literal('created_at')], {
        default: 'tx_volume_u_24h',
        description: 'Descending',
      }),
    ),
  }),
  data: Type.Array(TokenView),
  handle({ chains }, { query }) {
    const markets = resolveChains(chains, query.chain)
    const tag = readTag(query.tag, (platform) => isSeen(chains.markets(), platform))
    if (tag === undefined) throw badRequest('tag_unknown', `There is no tag "${query.tag}". Known forms: ${TAG_FORMS}.`)
    const limit = query.limit ?? DEFAULT_LIMIT
    // A `new` tag chooses by time; the order is the one asked for all the same.
    const chosen = tag.newest
      ? firstOf(ranked(tagged(markets, tag), tag.timeS), limit, byMeasure)
      : tagged(markets, tag)
    const listed = firstOf(ranked(chosen, TOKEN_MEASURES[query.orderby ?? 'tx_volume_u_24h']), limit, byMeasure)
    const data = listed.map(({ market, token }) => tokenView(market, token))
    return { data, chains: markets.map(({ state }) => state.chain) }
  },
})

function* tagged(markets: readonly Market[], tag: PlatformTag): Generator<ListedToken> {
  for (const listed of tokensOf(markets)) if (tag.includes(listed)) yield listed
}

function* ranked(tokens: Iterable<ListedToken>, measureOf: (listed: ListedToken) => number): Generator<Ranked> {
  for (const { market, token } of tokens) yield { market, token, measure: measureOf({ market, token }) }
}

function isSeen(markets: readonly Market[], platform: string): boolean {
  for (const { token } of tokensOf(markets)) if (token.info.launch_platform === platform) return true
  return false
}
