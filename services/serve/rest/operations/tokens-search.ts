import { Type } from '@sinclair/typebox'
import { tokenFields, tokenWindowsSchema, tokenWindowsView } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { batchAnswer, resolveTokenIds, tokenIds } from '../parameters.js'
import { viewTokens } from '../view-tokens.js'

const MAX_TOKENS = 50

export const tokensSearch = operation({
  id: 'tokensSearch',
  method: 'POST',
  path: '/v2/tokens/search',
  summary: 'Details and statistics of several tokens',
  costCu: 100,
  envelope: true,
  isBatch: true,
  params: Type.Object({}),
  query: Type.Object({}),
  body: Type.Object({ token_ids: tokenIds(MAX_TOKENS) }),
  data: Type.Array(Type.Object({ ...tokenFields, ...tokenWindowsSchema })),
  async handle({ chains, launches }, { body }) {
    const ids = resolveTokenIds(chains, body.token_ids, MAX_TOKENS)
    const items = ids.known.flatMap(({ address, market }) => {
      const token = market.state.tokens.get(address)
      return token === undefined ? [] : [{ market, token }]
    })
    const { views: data, isProvisional } = await viewTokens(launches, items, (view, token, { market }) => ({
      ...view,
      ...tokenWindowsView(market, token),
    }))
    return { data, isProvisional, ...batchAnswer(ids, data.length) }
  },
})
