import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { EventQuery } from '../../events/history.js'
import type { PairState } from '../../memory/chain-state.js'
import type { Placed } from '../../memory/event-overlay.js'
import type { Market } from '../../views/market.js'
import { int, text } from '../../views/schema.js'
import { resolveId } from '../ids.js'
import type { Answer, OperationContext } from '../operation.js'
import { checkRange, epochSeconds } from '../time.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 300

/** What both history operations of events take and answer. */
export const TxsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'Most items in the answer' }),
  ),
  from_time: Type.Optional(epochSeconds('Not before, inclusive')),
  to_time: Type.Optional(epochSeconds('Not after, inclusive')),
  sort: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      default: 'asc',
      description: 'asc with from_time: the first items from there; otherwise the last items, in this order',
    }),
  ),
})

export const txsData = (item: TSchema) =>
  Type.Object({ limit: int, pair_id: text, to_time: int, total_count: int, txs: Type.Array(item) })

type Read<Event> = (market: Market, query: EventQuery) => Promise<Placed<Event>[]>
type View<Event> = (market: Market, pair: PairState, event: Placed<Event>) => object

export async function answerTxs<Event>(
  { chains }: OperationContext,
  pairId: string,
  query: Static<typeof TxsQuery>,
  read: Read<Event>,
  view: View<Event>,
): Promise<Answer<unknown>> {
  const { address, chain, market } = resolveId(chains, pairId, 'pair-id')
  const { limit = DEFAULT_LIMIT, from_time: fromS, to_time: toS, sort = 'asc' } = query
  checkRange(fromS, toS)
  const pair = market.state.pairs.get(address)
  const shared = { limit, pair_id: `${address}-${chain}`, to_time: toS ?? market.state.nowS }
  if (pair === undefined) {
    const data = { ...shared, total_count: 0, txs: [] }
    return { data, chains: [chain], reason: 'unknown_pair', msg: 'pair not found' }
  }
  const events = await read(market, { pair: address, limit, fromS, toS, sort })
  const txs = events.map((event) => view(market, pair, event))
  const reason = txs.length === 0 && pair.tx_count === 0 ? { reason: 'no_trades' } : {}
  return { data: { ...shared, total_count: txs.length, txs }, chains: [chain], ...reason }
}
