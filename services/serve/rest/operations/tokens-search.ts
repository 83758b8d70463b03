import { Type } from '@sinclair/typebox'
import type { WindowName } from '../../../core/domain/chains.js'
import { windowOf } from '../../memory/windows.js'
import { decimalOrNull } from '../../numbers/plain-decimal.js'
import { decimal, fieldsOf } from '../../views/schema.js'
import { tokenFields, tokenView } from '../../views/token-view.js'
import { tokenWindowFields, tokenWindowSchema } from '../../views/token-windows.js'
import { resolveTokenIds } from '../ids.js'
import { operation } from '../operation.js'

const MAX_TOKENS = 50
const WINDOWS: readonly WindowName[] = ['1m', '5m', '1h', '4h', '24h']

const TokenWithWindows = Type.Object({
  ...tokenFields,
  ...Object.assign({}, ...WINDOWS.map(tokenWindowSchema)),
  ...fieldsOf(['token_price_24h_high', 'token_price_24h_low'], decimal),
})

export const tokensSearch = operation({
  id: 'tokensSearch',
  method: 'POST',
  path: '/v2/tokens/search',
  summary: 'Details and statistics of many tokens at once',
  costCu: 100,
  envelope: true,
  params: Type.Object({}),
  query: Type.Object({}),
  body: Type.Object({
    token_ids: Type.Array(Type.String(), { minItems: 1, description: `At most ${MAX_TOKENS}, each <address>-<chain>` }),
  }),
  data: Type.Array(TokenWithWindows),
  handle({ chains }, { body }) {
    const ids = resolveTokenIds(chains, body.token_ids, MAX_TOKENS)
    const data = ids.flatMap(({ address, market }) => {
      const token = market.state.tokens.get(address)
      if (token === undefined) return []
      const day = windowOf(token.windows, '24h')
      return [
        {
          ...tokenView(market, token),
          ...Object.assign({}, ...WINDOWS.map((name) => tokenWindowFields(market, token, name))),
          token_price_24h_high: decimalOrNull(day.high),
          token_price_24h_low: decimalOrNull(day.low),
        },
      ]
    })
    const unknown = data.length === 0 ? { reason: 'unknown_token', msg: 'token not found' } : {}
    return { data, chains: [...new Set(ids.map(({ chain }) => chain))], ...unknown }
  },
})
