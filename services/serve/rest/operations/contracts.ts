import { Type } from '@sinclair/typebox'
import { balancesOf, largestBalances } from '../../history/balances.js'
import { earlierLaunches } from '../../history/creator-launches.js'
import { ContractView, contractParties, contractView, creatorOf, RANKED_HOLDERS } from '../../views/contract-view.js'
import { moneyOf } from '../../views/market-facts.js'
import { operation } from '../operation.js'
import { resolveId, TokenIdParams } from '../parameters.js'

export const contracts = operation({
  id: 'contracts',
  method: 'GET',
  path: '/v2/contracts/{token-id}',
  summary: 'Contract of a token: risk checks, largest holders and pairs',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: TokenIdParams,
  query: Type.Object({}),
  data: ContractView,
  nullable: true,
  async handle({ chains, store, flush, launches }, { params }) {
    const { address, chain, market } = resolveId(chains, params['token-id'], 'token-id')
    const unknown = { data: null, chains: [chain], reason: 'unknown_token', msg: 'token not found' }
    const before = market.state.tokens.get(address)
    if (before === undefined) return unknown
    await flush(chain)
    const largest = await largestBalances(store, chain, address, RANKED_HOLDERS)
    const { rates, provider } = await launches.of(market.state, address)
    const creator = creatorOf(market, before, provider)
    const balances = await balancesOf(store, chain, address, contractParties(before, creator))
    const launchedMoney = market.facts?.family === 'evm' ? moneyOf(market) : null
    const earlier = creator === '' ? null : await earlierLaunches(store, market.state, creator, address, launchedMoney)
    const token = market.state.tokens.get(address)
    if (token === undefined) return unknown
    const unchecked = token.info.risk === null ? { reason: 'unverified' } : {}
    const data = contractView(market, token, { largest, balances, rates, creator, earlier })
    // Balances are in the store alone, which is flushed at most once per second.
    return { data, chains: [chain], ...unchecked, isProvisional: true }
  },
})
