import { Type } from '@sinclair/typebox'
import { readTag, TAG_FORMS } from '../../lists/platform-tag.js'
import { byMeasure, createShortlist, type Ranked, TOKEN_MEASURES } from '../../views/ranking.js'
import type { Market } from '../../views/market-facts.js'
import { TokenView, tokenView } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, limitOf, resolveChains } from '../parameters.js'
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
    limit: limitOf('tokens', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
    orderby: Type.Optional(
      Type.Union([Type.Literal('tx_volume_u_24h'), Type.Literal('main_pair_tvl'), Type.Literal('created_at')], {
        default: 'tx_volume_u_24h',
        description: 'Descending. Over the limit, tags of new tokens choose the latest',
      }),
    ),
  }),
  data: Type.Array(TokenView),
  handle({ chains }, { query }) {
    const markets = resolveChains(chains, query.chain)
    const tag = readTag(query.tag, (platform) => isSeen(chains.markets(), platform))
    if (tag === undefined) throw badRequest('tag_unknown', `There is no tag "${query.tag}". Known forms: ${TAG_FORMS}.`)
    const orderBy = TOKEN_MEASURES[query.orderby ?? 'tx_volume_u_24h']
    // A `new` tag chooses by time; the order is the one asked for all the same.
    const chooseBy = tag.newest ? tag.timeS : orderBy
    const listed = createShortlist<Ranked>(query.limit ?? DEFAULT_LIMIT, byMeasure)
    for (const market of markets) {
      for (const token of market.state.tokens.values()) {
        if (tag.includes(token.info)) listed.offer({ market, token, measure: chooseBy(market, token) })
      }
    }
    const ordered = listed.items().map((one) => ({ ...one, measure: orderBy(one.market, one.token) }))
    const data = ordered.sort(byMeasure).map(({ market, token }) => tokenView(market, token))
    return { data, chains: markets.map(({ state }) => state.chain) }
  },
})

function isSeen(markets: readonly Market[], platform: string): boolean {
  for (const { state } of markets) {
    for (const { info } of state.tokens.values()) if (info.launch_platform === platform) return true
  }
  return false
}
