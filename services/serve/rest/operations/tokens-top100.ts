import { Type } from '@sinclair/typebox'
import { NO_TRADES } from '../../history/holder-trades.js'
import { MAX_HOLDERS } from '../../history/top-holders.js'
import { HolderView, holderView } from '../../views/holder-view.js'
import { firstIndexedS } from '../../views/market-facts.js'
import { type Answer, type OperationContext, operation } from '../operation.js'
import { limitOf, resolveId, TokenIdParams } from '../parameters.js'

const limit = limitOf('holders', { max: MAX_HOLDERS, standard: MAX_HOLDERS })

export const tokensTop100 = operation({
  id: 'tokensTop100',
  method: 'GET',
  path: '/v2/tokens/top100/{token-id}',
  summary: 'Largest holders of a token',
  costCu: 10,
  envelope: false,
  readsStore: true,
  params: TokenIdParams,
  query: Type.Object({ limit }),
  data: Type.Array(HolderView),
  handle: (context, { params, query }) => answerHolders(context, params['token-id'], query.limit),
})

export const tokensHolders = operation({
  id: 'tokensHolders',
  method: 'GET',
  path: '/v2/tokens/holders/{token-id}',
  summary: 'Largest holders of a token, in either order',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: TokenIdParams,
  query: Type.Object({
    limit,
    sort_by: Type.Optional(
      Type.Union([Type.Literal('balance'), Type.Literal('percentage')], {
        default: 'balance',
        description: 'Both give the same order',
      }),
    ),
    order: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
        default: 'desc',
        description: 'asc: the same holders, smallest first',
      }),
    ),
  }),
  data: Type.Array(HolderView),
  async handle(context, { params, query }) {
    const answer = await answerHolders(context, params['token-id'], query.limit)
    return query.order === 'asc' ? { ...answer, data: answer.data.toReversed() } : answer
  },
})

/** Largest first. */
async function answerHolders(
  { chains, hot }: OperationContext,
  tokenId: string,
  limit: number | undefined,
): Promise<Answer<object[]>> {
  const { address, chain, market } = resolveId(chains, tokenId, 'token-id')
  const unknown = { data: [], chains: [chain], reason: 'unknown_token', msg: 'token not found' }
  if (!market.state.tokens.has(address)) return unknown
  const holders = await hot.holders(market.state, address, market.facts?.native)
  const token = market.state.tokens.get(address)
  if (token === undefined) return unknown
  const completeSinceS = firstIndexedS(market)
  const data = holders.balances.slice(0, limit).map((balance) =>
    holderView(market, token, {
      ...balance,
      mainCoinRaw: holders.natives.get(balance.holder) ?? null,
      trades: holders.trades.get(balance.holder) ?? NO_TRADES,
      completeSinceS,
    }),
  )
  const reason = data.length === 0 ? { reason: 'no_holders' } : {}
  return { data, chains: [chain], ...reason, holdsWhile: holders.isCurrent }
}
