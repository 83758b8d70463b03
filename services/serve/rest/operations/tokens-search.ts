import { Type } from '@sinclair/typebox'
import { tokenFields, tokenView, tokenWindowsSchema, tokenWindowsView } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { batchAnswer, resolveTokenIds, tokenIds } from '../parameters.js'

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
  handle({ chains }, { body }) {
    const ids = resolveTokenIds(chains, body.token_ids, MAX_TOKENS)
    const data = ids.known.flatMap(({ address, market }) => {
      const token = market.state.tokens.get(address)
      return token === undefined ? [] : [{ ...tokenView(market, token), ...tokenWindowsView(market, token) }]
    })
    return { data, ...batchAnswer(ids, data.length) }
  },
})
