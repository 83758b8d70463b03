import { Type } from '@sinclair/typebox'
import { earlierLaunches } from '../../history/creator-launches.js'
import { balancesOf, largestBalances } from '../../history/holders.js'
import {
  ContractView,
  contractParties,
  contractView,
  launchCreator,
  RANKED_HOLDERS,
} from '../../views/contract-view.js'
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
    const balances = await balancesOf(store, chain, address, contractParties(market, before))
    const rates = await launches.of(market.state, address)
    const creator = launchCreator(market, before)
    const earlier = creator === '' ? null : await earlierLaunches(store, market.state, creator, address)
    const token = market.state.tokens.get(address)
    if (token === undefined) return unknown
    const unchecked = token.info.risk === null ? { reason: 'unverified' } : {}
    const data = contractView(market, token, { largest, balances, rates, earlier })
    // Balances are in the store alone, which is flushed at most once per second.
    return { data, chains: [chain], ...unchecked, isProvisional: true }
  },
})
