import { Type } from '@sinclair/typebox'
import { findTokens } from '../../lists/keyword.js'
import { TOKEN_MEASURES } from '../../views/ranking.js'
import { TokenView, tokenView } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, limitOf, resolveChains } from '../parameters.js'
import { badRequest } from '../problem.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 300
const MAX_KEYWORD = 128

export const tokensKeyword = operation({
  id: 'tokensKeyword',
  method: 'GET',
  path: '/v2/tokens',
  summary: 'Tokens found by symbol, name or address',
  costCu: 5,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({
    keyword: Type.String({
      ...{ minLength: 1, maxLength: MAX_KEYWORD, examples: ['WETH'] },
      description: 'A symbol, a name or an address, or a part of one; letters in any case',
    }),
    chain: Type.Optional(ChainName),
    limit: limitOf('tokens', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
    orderby: Type.Optional(
      Type.Union(
        [
          Type.Literal('tx_volume_u_24h'),
          Type.Literal('market_cap'),
          Type.Literal('main_pair_tvl'),
          Type.Literal('fdv'),
        ],
        {
          default: 'tx_volume_u_24h',
          description: 'Descending. Over the limit, exact matches are chosen first, then beginnings, then the rest',
        },
      ),
    ),
  }),
  data: Type.Array(TokenView),
  handle({ chains }, { query }) {
    const keyword = query.keyword.trim()
    if (keyword === '') throw badRequest('query_invalid', 'query keyword: must not be blank.')
    const markets = resolveChains(chains, query.chain)
    const measure = TOKEN_MEASURES[query.orderby ?? 'tx_volume_u_24h']
    const data = findTokens(markets, keyword, measure, query.limit ?? DEFAULT_LIMIT).map(({ market, token }) =>
      tokenView(market, token),
    )
    const unknown = data.length === 0 ? { reason: 'unknown_token', msg: 'token not found' } : {}
    return { data, chains: markets.map(({ state }) => state.chain), ...unknown }
  },
})
