import { Type } from '@sinclair/typebox'
import { NO_TRADES } from '../../history/holders.js'
import type { Held } from '../../history/hot/hot-holders.js'
import { MAX_HOLDERS, type NativeBalances } from '../../history/top-holders.js'
import { HolderView, holderView } from '../../views/holder-view.js'
import { firstIndexedS } from '../../views/market-facts.js'
import { operation } from '../operation.js'
import { limitOf, resolveId, TokenIdParams } from '../parameters.js'

const NONE: Held<NativeBalances> = { facts: new Map(), isHeld: false }

export const tokensTop100 = operation({
  id: 'tokensTop100',
  method: 'GET',
  path: '/v2/tokens/top100/{token-id}',
  summary: 'Largest holders of a token',
  costCu: 10,
  envelope: false,
  readsStore: true,
  params: TokenIdParams,
  query: Type.Object({
    limit: limitOf('holders', { max: MAX_HOLDERS, standard: MAX_HOLDERS }),
  }),
  data: Type.Array(HolderView),
  async handle({ chains, hot }, { params, query }) {
    const { address, chain, market } = resolveId(chains, params['token-id'], 'token-id')
    const unknown = { data: [], chains: [chain], reason: 'unknown_token', msg: 'token not found' }
    if (!market.state.tokens.has(address)) return unknown
    const { native } = market.facts ?? {}
    const { facts: holders, isHeld } = await hot.topHolders(market.state, address)
    const mainCoins = native === undefined ? NONE : await hot.nativeBalances(market.state, native, address, holders)
    const token = market.state.tokens.get(address)
    if (token === undefined) return unknown
    const completeSinceS = firstIndexedS(market)
    const data = holders.balances.slice(0, query.limit).map((balance) =>
      holderView(market, token, {
        ...balance,
        mainCoinRaw: mainCoins.facts.get(balance.holder) ?? null,
        trades: holders.trades.get(balance.holder) ?? NO_TRADES,
        completeSinceS,
      }),
    )
    const reason = data.length === 0 ? { reason: 'no_holders' } : {}
    return { data, chains: [chain], ...reason, isProvisional: isHeld || mainCoins.isHeld }
  },
})
