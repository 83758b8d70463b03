import { Type } from '@sinclair/typebox'
import { flag } from '../../views/field-formats.js'
import { TokenPair, tokenPairView } from '../../views/pair-view.js'
import { deepestPairs, hasTraded } from '../../views/ranking.js'
import {
  requiredTokenTexts,
  tokenFields,
  tokenWindowsSchema,
  tokenWindowsView,
  withRequiredTexts,
} from '../../views/token-view.js'
import { operation } from '../operation.js'
import { resolveId, TokenIdParams } from '../parameters.js'
import { viewTokens } from '../view-tokens.js'

const MAX_PAIRS = 5

export const tokenDetail = operation({
  id: 'tokenDetail',
  method: 'GET',
  path: '/v2/tokens/{token-id}',
  summary: 'Token details with statistics and its five pairs with the highest TVL',
  costCu: 5,
  envelope: true,
  params: TokenIdParams,
  query: Type.Object({}),
  data: Type.Object({
    is_audited: flag,
    pairs: Type.Array(TokenPair, { maxItems: MAX_PAIRS }),
    token: Type.Object({ ...tokenFields, ...requiredTokenTexts, ...tokenWindowsSchema }),
  }),
  nullable: true,
  async handle({ chains, launches }, { params }) {
    const { address, chain, market } = resolveId(chains, params['token-id'], 'token-id')
    const known = market.state.tokens.get(address)
    const items = known === undefined ? [] : [{ market, token: known }]
    const { views, isProvisional } = await viewTokens(launches, items, (view, token) => ({
      ...withRequiredTexts(view),
      ...tokenWindowsView(market, token),
    }))
    const [token] = views
    if (token === undefined) return { data: null, chains: [chain], reason: 'unknown_token', msg: 'token not found' }
    const data = {
      is_audited: market.facts?.audited?.includes(address) ?? false,
      pairs: deepestPairs(market, address, MAX_PAIRS).map((pair) => tokenPairView(market, pair)),
      token,
    }
    return { data, chains: [chain], isProvisional, ...(hasTraded(market, address) ? {} : { reason: 'no_trades' }) }
  },
})
