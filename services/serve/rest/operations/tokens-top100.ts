import { Type } from '@sinclair/typebox'
import { balancesOf, largestBalances, NO_TRADES, tradesOfWallets } from '../../history/holders.js'
import { HolderView, holderView } from '../../views/holder-view.js'
import type { Market } from '../../views/market-facts.js'
import { operation } from '../operation.js'
import { limitOf, resolveId, TokenIdParams } from '../parameters.js'

const MAX_LIMIT = 100

export const tokensTop100 = operation({
  id: 'tokensTop100',
  method: 'GET',
  path: '/v2/tokens/top100/{token-id}',
  summary: 'Largest holders of a token',
  costCu: 10,
  envelope: false,
  params: TokenIdParams,
  query: Type.Object({
    limit: limitOf('holders', { max: MAX_LIMIT, standard: MAX_LIMIT }),
  }),
  data: Type.Array(HolderView),
  async handle({ chains, store, flush }, { params, query }) {
    const { address, chain, market } = resolveId(chains, params['token-id'], 'token-id')
    const unknown = { data: [], chains: [chain], reason: 'unknown_token', msg: 'token not found' }
    if (!market.state.tokens.has(address)) return unknown
    await flush(chain)
    const largest = await largestBalances(store, chain, address, query.limit ?? MAX_LIMIT)
    const wallets = largest.map(({ holder }) => holder)
    const native = market.facts?.native
    const mainCoins = native === undefined ? new Map() : await balancesOf(store, chain, native, wallets)
    const trades = await tradesOfWallets(store, chain, market.state.targetPairs.of(address), wallets)
    const token = market.state.tokens.get(address)
    if (token === undefined) return unknown
    const completeSinceS = firstIndexedS(market)
    const data = largest.map((balance) =>
      holderView(market, token, {
        ...balance,
        mainCoinRaw: mainCoins.get(balance.holder) ?? null,
        trades: trades.get(balance.holder) ?? NO_TRADES,
        completeSinceS,
      }),
    )
    return { data, chains: [chain], ...(data.length === 0 ? { reason: 'no_holders' } : {}) }
  },
})

/** Chain time of the first indexed token. */
function firstIndexedS({ state }: Market): number {
  let first = state.nowS
  for (const { info } of state.tokens.values()) {
    if (info.created_at > 0 && info.created_at < first) first = info.created_at
  }
  return first
}
