import { Type } from '@sinclair/typebox'
import { fieldsOf, flag, intOrNull, text } from '../../views/field-formats.js'
import { type Market, tokenInfo } from '../../views/market-facts.js'
import { operation } from '../operation.js'

export const supportedChains = operation({
  id: 'supportedChains',
  method: 'GET',
  path: '/v2/supported_chains',
  summary: 'Indexed chains',
  costCu: 0,
  envelope: true,
  params: Type.Object({}),
  query: Type.Object({}),
  data: Type.Array(
    Type.Object({
      ...fieldsOf(['chain', 'name', 'native_token', 'native_symbol', 'anchor_token', 'anchor_symbol'], text),
      chain_id: intOrNull,
      case_sensitive: flag,
      amms: Type.Array(Type.String(), { description: 'Exchanges decoded from the chain’s blocks' }),
    }),
  ),
  handle({ chains }) {
    const markets = chains.markets()
    return { data: markets.map(chainView), chains: markets.map(({ state }) => state.chain) }
  },
})

function chainView(market: Market) {
  const { state, facts, amms } = market
  const symbolOf = (token: string | undefined) => tokenInfo(market, token ?? '').symbol ?? ''
  return {
    chain: state.chain,
    chain_id: facts?.chainId ?? null,
    name: facts?.title ?? state.chain,
    case_sensitive: facts?.family === 'solana',
    native_token: facts?.native ?? '',
    native_symbol: symbolOf(facts?.native),
    anchor_token: facts?.anchor ?? '',
    anchor_symbol: symbolOf(facts?.anchor),
    amms: [...amms],
  }
}
