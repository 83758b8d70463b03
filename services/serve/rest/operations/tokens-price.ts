import { Type } from '@sinclair/typebox'
import { dayVolumeUsd } from '../../../core/domain/packed-windows.js'
import { decimal, fieldsOf, int, intOrNull, text } from '../../views/field-formats.js'
import { priceFields } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { batchAnswer, resolveTokenIds, tokenIds } from '../parameters.js'

const MAX_TOKENS = 200

const TokenPrice = Type.Object({
  token_id: text,
  ...fieldsOf(['current_price_usd', 'price_change_1d', 'price_change_24h', 'tvl', 'market_cap', 'fdv'], decimal),
  holders: intOrNull,
  tx_volume_u_24h: decimal,
  updated_at: int,
})

export const tokensPrice = operation({
  id: 'tokensPrice',
  method: 'POST',
  path: '/v2/tokens/price',
  summary: 'Prices of several tokens',
  costCu: 100,
  envelope: true,
  isBatch: true,
  params: Type.Object({}),
  query: Type.Object({}),
  body: Type.Object({
    token_ids: tokenIds(MAX_TOKENS),
    tvl_min: Type.Optional(
      Type.Number({
        minimum: 0,
        default: 1000,
        description: 'Minimum TVL in USD; 0: no minimum. Tokens with unknown TVL are included',
      }),
    ),
    tx_24h_volume_min: Type.Optional(
      Type.Number({ minimum: 0, default: 0, description: 'Minimum 24-hour volume in USD; 0: no minimum' }),
    ),
  }),
  data: Type.Record(Type.String(), TokenPrice),
  handle({ chains }, { body }) {
    const ids = resolveTokenIds(chains, body.token_ids, MAX_TOKENS)
    const tvlMin = body.tvl_min ?? 1000
    const volumeMin = body.tx_24h_volume_min ?? 0
    const data: Record<string, unknown> = {}
    let found = 0
    for (const { address, chain, market } of ids.known) {
      const token = market.state.tokens.get(address)
      if (token === undefined) continue
      found += 1
      // A token with unknown TVL (NaN) is included.
      if (token.tvl < tvlMin || dayVolumeUsd(token.windows) < volumeMin) continue
      const tokenId = `${address}-${chain}`
      data[tokenId] = { token_id: tokenId, ...priceFields(market, token) }
    }
    return { data, ...batchAnswer(ids, found) }
  },
})
