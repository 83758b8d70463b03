import type { LiquidityKind, LiquidityTrade, Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import type { ServedChain } from '../memory/served-chain.js'
import type { EventQuery, Ordered, Place } from './event-order.js'
import type { HistorySources } from './hot/hot-history.js'
import { type EventTable, findStoredPlace, LIQUIDITY, readStoredEvents, TRADES } from './stored-events.js'

/** Reads a pair's swaps, from memory where it has them all, so that pushed data is in the next response. */
export async function readTrades(
  sources: HistorySources,
  state: ServedChain,
  query: EventQuery,
): Promise<Placed<Trade>[]> {
  const kept = await sources.hot.events(state, query.pair, TRADES, query)
  return kept?.read(query) ?? (await readStoredEvents(sources.store, state, query, TRADES)).events
}

export async function readLiquidity(
  sources: HistorySources,
  state: ServedChain,
  query: EventQuery,
  kind: LiquidityKind | 'all',
): Promise<Placed<LiquidityTrade>[]> {
  const kept = await sources.hot.events(state, query.pair, LIQUIDITY, query)
  const found = kept?.read(query, (event) => kind === 'all' || event.kind === kind)
  if (found !== undefined) return found
  return (await readStoredEvents(sources.store, state, query, LIQUIDITY, kind === 'all' ? null : kind)).events
}

/** Finds an event by id; undefined: the pair has no such event, or a reorg removed it. */
export async function findPlace<Event extends Ordered>(
  sources: HistorySources,
  state: ServedChain,
  table: EventTable<Event>,
  pair: string,
  id: string,
): Promise<Place | undefined> {
  const kept = await sources.hot.events(state, pair, table)
  return kept?.find(id) ?? (await findStoredPlace(sources.store, state, table, pair, id))
}
