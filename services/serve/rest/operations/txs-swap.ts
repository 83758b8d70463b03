import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { findPlace, readTrades } from '../../history/event-history.js'
import type { EventQuery, Ordered, Place } from '../../history/event-order.js'
import type { HistorySources } from '../../history/hot/hot-history.js'
import { type EventTable, TRADES } from '../../history/stored-events.js'
import type { PairState } from '../../memory/served-chain.js'
import { SwapItem, swapItem } from '../../views/event-items.js'
import { int, text } from '../../views/field-formats.js'
import { isFinal, type Market } from '../../views/market-facts.js'
import { eventCursor, readEventCursor } from '../cursors.js'
import { type Answer, type OperationContext, operation } from '../operation.js'
import { PAGE_FORMAT, PAGE_TYPES } from '../page-files.js'
import { checkRange, epochSeconds, limitOf, NextCursor, PagedQuery, PairIdParams, resolveId } from '../parameters.js'
import { badRequest } from '../problem.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 300

/** Query parameters and response of both event operations. */
export const TxsQuery = Type.Object({
  limit: limitOf('items', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
  from_time: Type.Optional(epochSeconds('Start time, inclusive')),
  to_time: Type.Optional(epochSeconds('End time, inclusive')),
  sort: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      default: 'asc',
      description:
        'Order of the items. asc with from_time returns the first items; otherwise the last items are returned',
    }),
  ),
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}-[0-9]{1,10}([.][0-9]{1,10})?$',
      description: 'Item id to continue after, in the order of sort',
      examples: ['18944480-246'],
    }),
  ),
  ...PagedQuery,
  format: PAGE_FORMAT,
})

export const txsData = (item: TSchema) =>
  Type.Object({
    limit: int,
    pair_id: text,
    to_time: int,
    total_count: int,
    next_cursor: NextCursor,
    txs: Type.Array(item),
  })

const SWAP_DOUBLES = ['from_token_price_usd', 'to_token_price_usd', 'amount_usd', 'pair_liquidity_usd']

export const txsSwap = operation({
  id: 'txsSwap',
  method: 'GET',
  path: '/v2/txs/swap/{pair-id}',
  aliases: ['/v2/txs/{pair-id}'],
  summary: 'Swaps of a pair',
  costCu: 50,
  envelope: true,
  readsStore: true,
  params: PairIdParams,
  query: TxsQuery,
  data: txsData(SwapItem),
  file: { rows: 'txs', item: SwapItem, doubles: SWAP_DOUBLES },
  otherTypes: PAGE_TYPES,
  handle: (context, { params, query }) =>
    answerTxs(
      context,
      TRADES,
      params['pair-id'],
      query,
      ({ state }, eventQuery) => readTrades(context, state, eventQuery),
      swapItem,
    ),
})

type Read<Event> = (market: Market, query: EventQuery) => Promise<Event[]>
type View<Event> = (market: Market, pair: PairState, event: Event) => object

export async function answerTxs<Event extends Ordered>(
  context: OperationContext,
  table: EventTable<Event>,
  pairId: string,
  query: Static<typeof TxsQuery>,
  read: Read<Event>,
  view: View<Event>,
): Promise<Answer<unknown>> {
  const { address, chain, market } = resolveId(context.chains, pairId, 'pair-id')
  const { limit = DEFAULT_LIMIT, from_time: fromS, to_time: toS } = query
  const cursor = query.cursor === undefined ? undefined : readEventCursor(query.cursor, query.sort)
  const sort = cursor?.sort ?? query.sort ?? 'asc'
  if (cursor !== undefined && query.after !== undefined)
    throw badRequest('cursor_and_after', 'Pass either `cursor` or `after`, not both.')
  checkRange(fromS, toS)
  const pair = market.state.pairs.get(address)
  const shared = { limit, pair_id: `${address}-${chain}`, to_time: toS ?? market.state.nowS }
  if (pair === undefined) {
    const data = { ...shared, total_count: 0, txs: [] }
    return { data, chains: [chain], reason: 'unknown_pair', msg: 'pair not found' }
  }
  const after = query.after === undefined ? cursor?.after : await placeOf(context, market, table, address, query.after)
  const upTo = query.finalized === 'true' ? { upToBlock: market.state.finalized } : {}
  const eventQuery: EventQuery = { pair: address, limit, fromS, toS, sort, after, ...upTo }
  const events = await read(market, eventQuery)
  const txs = events.map((event) => view(market, pair, event))
  const reason = txs.length === 0 && pair.tx_count === 0 ? { reason: 'no_trades' } : {}
  const isClosed = toS !== undefined && pair.tx_count > 0 && isFinal(market.state, toS)
  const next = nextCursor(events, eventQuery)
  return { data: { ...shared, total_count: txs.length, ...next, txs }, chains: [chain], ...reason, isClosed }
}

/** Ascending, later items may follow at any time; descending, none before a page that is not full. */
function nextCursor(events: readonly Place[], { sort, limit, fromS, after }: EventQuery): { next_cursor?: string } {
  if (sort === 'desc' && events.length < limit) return {}
  const last = events.at(-1) ?? after ?? (fromS === undefined ? undefined : placeBefore(fromS))
  return last === undefined ? {} : { next_cursor: eventCursor({ sort, after: last }) }
}

const placeBefore = (timeS: number): Place => ({
  ...{ timeS: Math.max(0, timeS - 1), blockNumber: 0, tx_index: 0, log_index: 0, sub: 0 },
})

async function placeOf<Event extends Ordered>(
  sources: HistorySources,
  { state }: Market,
  table: EventTable<Event>,
  pair: string,
  id: string,
): Promise<Place> {
  const place = await findPlace(sources, state, table, pair, id)
  if (place !== undefined) return place
  throw badRequest(
    'after_unknown',
    `Unknown \`after\` "${id}": a reorg may have removed this item. Page by time instead.`,
  )
}
