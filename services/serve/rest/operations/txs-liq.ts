import { Type } from '@sinclair/typebox'
import type { LiquidityKind } from '../../../core/domain/records.js'
import { readLiquidity } from '../../history/event-history.js'
import { LIQUIDITY } from '../../history/stored-events.js'
import { LIQUIDITY_TYPES, LiquidityItem, liquidityItem } from '../../views/event-items.js'
import { tokenInfo } from '../../views/market-facts.js'
import { operation } from '../operation.js'
import { PAGE_TYPES } from '../page-files.js'
import { PairIdParams } from '../parameters.js'
import { answerTxs, TxsQuery, txsData } from './txs-swap.js'

const KINDS = Object.keys(LIQUIDITY_TYPES) as LiquidityKind[]

const LIQUIDITY_DOUBLES = ['amount_eth', 'amount_usd', 'token0_price_usd', 'token1_price_usd']

export const txsLiq = operation({
  id: 'txsLiq',
  method: 'GET',
  path: '/v2/txs/liq/{pair-id}',
  summary: 'Liquidity events of a pair',
  costCu: 50,
  envelope: true,
  readsStore: true,
  params: PairIdParams,
  query: Type.Object({
    ...TxsQuery.properties,
    type: Type.Optional(
      Type.Union(
        [...Object.values(LIQUIDITY_TYPES), 'all' as const].map((type) => Type.Literal(type)),
        {
          default: 'all',
          description: 'Only items of this type',
        },
      ),
    ),
  }),
  data: txsData(LiquidityItem),
  file: { rows: 'txs', item: LiquidityItem, doubles: LIQUIDITY_DOUBLES },
  otherTypes: PAGE_TYPES,
  handle: (context, { params, query }) => {
    const kind = KINDS.find((one) => LIQUIDITY_TYPES[one] === query.type) ?? 'all'
    return answerTxs(
      context,
      LIQUIDITY,
      params['pair-id'],
      query,
      ({ state }, eventQuery) => readLiquidity(context, state, eventQuery, kind),
      (market, pair, event) => {
        const [info0, info1] = [tokenInfo(market, pair.info.token0), tokenInfo(market, pair.info.token1)]
        return liquidityItem({ chain: market.state.chain, pair, info0, info1 }, event)
      },
    )
  },
})
