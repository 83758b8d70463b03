import { readTrades } from '../../history/event-history.js'
import { SwapItem, swapItem } from '../../views/swap-item.js'
import { operation } from '../operation.js'
import { PairIdParams } from '../parameters.js'
import { answerTxs, TxsQuery, txsData } from './txs-query.js'

export const txsSwap = operation({
  id: 'txsSwap',
  method: 'GET',
  path: '/v2/txs/swap/{pair-id}',
  aliases: ['/v2/txs/{pair-id}'],
  summary: 'Swaps of a pair',
  costCu: 50,
  envelope: true,
  params: PairIdParams,
  query: TxsQuery,
  data: txsData(SwapItem),
  handle: (context, { params, query }) =>
    answerTxs(
      context,
      'trade_rows',
      params['pair-id'],
      query,
      ({ state }, asked) => readTrades(context.store, state, asked),
      swapItem,
    ),
})
