import { Type } from '@sinclair/typebox'
import { readHolderCounts } from '../../history/holder-counts.js'
import { int, intOrNull } from '../../views/field-formats.js'
import { HistoryQuery, historyPage, readHistoryPage } from '../history-page.js'
import { operation } from '../operation.js'
import { resolveId, TokenIdParams } from '../parameters.js'

export const holdersHistory = operation({
  id: 'holdersHistory',
  method: 'GET',
  path: '/v2/tokens/holders/{token-id}/history',
  summary: 'Number of holders of a token at the end of each hour or day in which it changed',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: TokenIdParams,
  query: HistoryQuery,
  data: Type.Object({
    ...historyPage,
    holders_complete_since: intOrNull,
    points: Type.Array(Type.Object({ time: int, holders: int })),
  }),
  async handle({ chains, store, flush }, { params, query }) {
    const { address: token, chain, market } = resolveId(chains, params['token-id'], 'token-id')
    const { values, ...page } = await readHistoryPage(market, flush, query, ({ interval, span, order, limit }) =>
      readHolderCounts(store, { chain, token }, interval, span, order, limit),
    )
    const points = values.map(({ timeS, holders }) => ({ time: timeS, holders }))
    const since = market.state.tokens.get(token)?.info.holders_since ?? null
    const unknown = market.state.tokens.has(token)
      ? { reason: 'no_holders' }
      : { reason: 'unknown_token', msg: 'token not found' }
    return {
      ...{ data: { ...page, holders_complete_since: since, points }, chains: [chain], isProvisional: true },
      ...(points.length === 0 ? unknown : {}),
    }
  },
})
