import { Type } from '@sinclair/typebox'
import { PairView, pairView } from '../../views/pair-view.js'
import { operation } from '../operation.js'
import { PairIdParams, resolveId } from '../parameters.js'

export const pairDetail = operation({
  id: 'pairDetail',
  method: 'GET',
  path: '/v2/pairs/{pair-id}',
  summary: 'Pair details: tokens, prices, reserves and rolling statistics',
  costCu: 5,
  envelope: true,
  params: PairIdParams,
  query: Type.Object({}),
  data: PairView,
  nullable: true,
  handle({ chains }, { params }) {
    const { address, chain, market } = resolveId(chains, params['pair-id'], 'pair-id')
    const pair = market.state.pairs.get(address)
    if (pair === undefined) return { data: null, chains: [chain], reason: 'unknown_pair', msg: 'pair not found' }
    const reason = pair.tx_count === 0 ? { reason: 'no_trades' } : {}
    return { data: pairView(market, pair), chains: [chain], ...reason }
  },
})
