import { Type } from '@sinclair/typebox'
import { moneyOf } from '../../views/market-facts.js'
import { SignalView, signalView } from '../../views/signal-view.js'
import { type OperationContext, operation } from '../operation.js'
import { pageOf, pageQuery, resolveChain } from '../parameters.js'

const DEFAULT_SIZE = 50

export const signalsPublic = operation({
  id: 'signalsPublic',
  method: 'GET',
  path: '/v2/signals/public/list',
  summary: 'Signals of the last day, newest first, with the events that made them',
  costCu: 5,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    chain: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Chain name; default: solana, or the first chain where that is not indexed',
        examples: ['eth'],
      }),
    ),
    ...pageQuery({ max: DEFAULT_SIZE, standard: DEFAULT_SIZE }),
  }),
  data: Type.Array(SignalView),
  async handle({ chains, signals }, { query }) {
    const market = resolveChain(chains, query.chain ?? defaultChain(chains))
    const { signals: events, isRanked } = await signals.of(market.state, moneyOf(market))
    const all = events.flatMap((event) => signalView(market, event) ?? [])
    const { pageSize = DEFAULT_SIZE, pageNO = 1 } = query
    const reason = isRanked ? (all.length === 0 ? { reason: 'no_signals' } : {}) : { reason: 'no_ranking' }
    return { data: pageOf(all, { pageSize, pageNO }), chains: [market.state.chain], isProvisional: true, ...reason }
  },
})

function defaultChain(chains: OperationContext['chains']): string {
  const [first] = chains.markets()
  return chains.market('solana') === undefined && first !== undefined ? first.state.chain : 'solana'
}
