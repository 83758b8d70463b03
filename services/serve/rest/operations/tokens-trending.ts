import { Type } from '@sinclair/typebox'
import { trending } from '../../lists/trending.js'
import { int } from '../../views/schema.js'
import { TokenView, tokenView } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, resolveChain } from '../parameters.js'

const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 100
const MAX_PAGE = 1_000_000
const LAST_PAGE = -1

export const tokensTrending = operation({
  id: 'tokensTrending',
  method: 'GET',
  path: '/v2/tokens/trending',
  summary: 'Tokens of a chain in demand now',
  costCu: 5,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({
    chain: ChainName,
    current_page: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_PAGE, default: 0, description: 'The first page is 0' }),
    ),
    page_size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE, description: 'Tokens on a page' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, description: 'Alias of page_size' })),
  }),
  data: Type.Object({
    current_page_size: Type.Integer({ description: 'Tokens on this page' }),
    next_page: Type.Integer({ description: '-1 on the last page' }),
    total: int,
    tokens: Type.Array(TokenView),
  }),
  handle({ chains }, { query }) {
    const market = resolveChain(chains, query.chain)
    const page = query.current_page ?? 0
    const pageSize = query.page_size ?? query.limit ?? DEFAULT_PAGE_SIZE
    const { tokens, total } = trending(market, page, pageSize)
    const data = {
      current_page_size: tokens.length,
      next_page: (page + 1) * pageSize < total ? page + 1 : LAST_PAGE,
      total,
      tokens: tokens.map((token) => tokenView(market, token)),
    }
    return { data, chains: [query.chain], ...(total === 0 ? { reason: 'no_trades' } : {}) }
  },
})
