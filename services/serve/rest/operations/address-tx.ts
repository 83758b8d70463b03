import { Type } from '@sinclair/typebox'
import type { Place } from '../../history/event-order.js'
import { int } from '../../views/field-formats.js'
import { WalletSwapItem, walletSwapItem } from '../../views/wallet-view.js'
import { eventCursor, readEventCursor } from '../cursors.js'
import { type OperationContext, operation } from '../operation.js'
import {
  checkRange,
  epochSeconds,
  limitOf,
  NextCursor,
  PagedQuery,
  resolveAddress,
  resolveWallet,
  TokenAddress,
  WalletQuery,
} from '../parameters.js'
import { badRequest } from '../problem.js'

const DEFAULT_SIZE = 100
const MAX_SIZE = 300
/** Without `from_time`. */
const DAYS_BACK_S = 15 * 86_400

export const addressTx = operation({
  id: 'addressTx',
  method: 'GET',
  path: '/v2/address/tx',
  summary: 'Swaps of a wallet, newest first',
  costCu: 100,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    ...WalletQuery,
    token_address: Type.Optional(TokenAddress),
    from_time: Type.Optional(epochSeconds('Start time, inclusive; default: 15 days before the chain’s now')),
    to_time: Type.Optional(epochSeconds('End time, inclusive')),
    page_size: limitOf('swaps', { max: MAX_SIZE, standard: DEFAULT_SIZE }),
    last_id: Type.Optional(
      Type.String({
        pattern: '^([0-9]{1,15}-[0-9]{1,10}([.][0-9]{1,10})?)?$',
        description: 'Id of the last swap of a page: continues after it',
      }),
    ),
    cursor: PagedQuery.cursor,
  }),
  data: Type.Object({
    result: Type.Array(WalletSwapItem),
    tx_count: Type.Integer({ description: 'Swaps in the range, on all pages' }),
    from_time: int,
    next_cursor: NextCursor,
  }),
  async handle(context, { query }) {
    const { wallet, chain, market } = resolveWallet(context.chains, query.wallet_address, query.chain)
    const token =
      query.token_address === undefined
        ? undefined
        : resolveAddress(context.chains, query.token_address, query.chain, 'token address').address
    const { state } = market
    const { to_time: toS, page_size: limit = DEFAULT_SIZE } = query
    const fromS = query.from_time ?? Math.max(0, Math.min(state.nowS, toS ?? state.nowS) - DAYS_BACK_S)
    checkRange(fromS, toS)
    const range = {
      wallet,
      fromS,
      toS,
      token: token === undefined ? undefined : { address: token, side: 'any' as const },
    }
    const before = await startOf(context, market.state, wallet, query)
    const trades = await context.wallets.trades(state, { ...range, before, limit, sort: 'desc' })
    const isAll = before === undefined && trades.length < limit
    const tx_count = isAll ? trades.length : await context.wallets.count(state, range)
    const last = trades.length === limit ? trades.at(-1) : undefined
    const next = last === undefined ? {} : { next_cursor: eventCursor({ sort: 'desc', after: last }) }
    const result = trades.map((trade) => walletSwapItem(market, trade))
    const reason = tx_count === 0 ? { reason: 'no_trades' } : {}
    return { data: { result, tx_count, from_time: fromS, ...next }, chains: [chain], ...reason }
  },
})

async function startOf(
  { wallets }: OperationContext,
  state: Parameters<OperationContext['wallets']['find']>[0],
  wallet: string,
  { cursor, last_id: lastId }: { cursor?: string; last_id?: string },
): Promise<Place | undefined> {
  if (cursor !== undefined) return readEventCursor(cursor, 'desc').after
  if (lastId === undefined || lastId === '') return undefined
  const place = await wallets.find(state, wallet, lastId)
  if (place !== undefined) return place
  throw badRequest(
    'last_id_unknown',
    `Unknown \`last_id\` "${lastId}": a reorg may have removed this swap. Page with \`next_cursor\` instead.`,
  )
}
