import { Type } from '@sinclair/typebox'
import type { TokenState } from '../../memory/served-chain.js'
import type { Market } from '../../views/market-facts.js'
import { descending } from '../../views/ranking.js'
import { requiredTokenTexts, tokenFields, withRequiredTexts } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, resolveChain } from '../parameters.js'
import { viewTokens } from '../view-tokens.js'

export const tokensMain = operation({
  id: 'tokensMain',
  method: 'GET',
  path: '/v2/tokens/main',
  summary: 'Main tokens of a chain: native coin, anchor, stables and majors',
  costCu: 5,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({ chain: ChainName }),
  data: Type.Array(Type.Object({ ...tokenFields, ...requiredTokenTexts })),
  async handle({ chains, launches }, { query }) {
    const market = resolveChain(chains, query.chain)
    const items = mainTokens(market).map((token) => ({ market, token }))
    const { views: data, isProvisional } = await viewTokens(launches, items, withRequiredTexts)
    return {
      data,
      chains: [market.state.chain],
      isProvisional,
      ...(data.length === 0 ? { reason: 'no_main_tokens' } : {}),
    }
  },
})

/** The configured tokens seen on the chain, class by class, highest TVL first. */
function mainTokens({ facts, state }: Market): TokenState[] {
  const classes = [[facts?.native], [facts?.anchor], facts?.stables ?? [], facts?.majors ?? []]
  return classes.flatMap((addresses) =>
    addresses.flatMap((address) => state.tokens.get(address ?? '') ?? []).sort((a, b) => descending(a.tvl, b.tvl)),
  )
}
