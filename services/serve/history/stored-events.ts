import type { LiquidityTrade, PairUpdate, Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import type { ServedChain } from '../memory/served-chain.js'
import { type EventQuery, inOrder, isIncluded, type Ordered, type Place, readsForward } from './event-order.js'
import { type Order, readNearRows } from './near-rows.js'
import type { Queries } from './query-lanes.js'
import {
  clampS,
  LIQUIDITY_COLUMNS,
  liquidityOf,
  placeOf,
  type StoredRow,
  TRADE_COLUMNS,
  tradeOf,
} from './stored-rows.js'

/** A table of events, and where memory has those that are not flushed yet. */
export type EventTable<Event extends Ordered> = {
  name: 'trade_rows' | 'liquidity_rows'
  columns: readonly string[]
  eventOf(row: StoredRow): Event
  unflushed(state: ServedChain, pair: string): Event[]
  /** Those of a pair's entry in an update. */
  published(entry: PairUpdate): readonly Omit<Event, 'blockNumber' | 'timeS'>[]
}

export const TRADES: EventTable<Placed<Trade>> = {
  name: 'trade_rows',
  columns: TRADE_COLUMNS,
  eventOf: tradeOf,
  unflushed: (state, pair) => state.events.trades(pair),
  published: ({ trades }) => trades,
}

export const LIQUIDITY: EventTable<Placed<LiquidityTrade>> = {
  name: 'liquidity_rows',
  columns: LIQUIDITY_COLUMNS,
  eventOf: liquidityOf,
  unflushed: (state, pair) => state.events.liquidity(pair),
  published: ({ liquidity }) => liquidity,
}

/** Only events whose column `kind` has this value; null: all of them. */
export type WantedKind = string | null

/** Reads stored events merged with those in memory, in the order of the query. */
export async function readStoredEvents<Event extends Ordered>(
  store: Queries,
  state: ServedChain,
  query: EventQuery,
  table: EventTable<Event>,
  kind: WantedKind = null,
): Promise<{ events: Event[]; isAll: boolean }> {
  const { fromS = 0, toS = Number.MAX_SAFE_INTEGER, limit, sort } = query
  const isForward = readsForward(query)
  // Before the query: what is flushed while it runs must be in one of the two.
  const unflushed = table.unflushed(state, query.pair)
  const rows = await storedRows(store, state, query, table, kind, isForward ? 'earliest' : 'latest')
  const byId = new Map(rows.map(table.eventOf).map((event) => [event.id, event]))
  for (const event of unflushed) {
    if (kind !== null && (event as { kind?: string }).kind !== kind) continue
    if (event.timeS >= fromS && event.timeS <= toS && isIncluded(event, query)) byId.set(event.id, event)
  }
  const ascending = [...byId.values()].sort(inOrder)
  const taken = isForward ? ascending.slice(0, limit) : ascending.slice(-limit)
  return { events: sort === 'asc' ? taken : taken.reverse(), isAll: rows.length < limit && taken.length === byId.size }
}

async function storedRows(
  store: Queries,
  state: ServedChain,
  { pair, limit, fromS = 0, toS = Number.MAX_SAFE_INTEGER, sort, after, upToBlock }: EventQuery,
  { name, columns }: Pick<EventTable<Ordered>, 'name' | 'columns'>,
  kind: WantedKind,
  order: Order,
): Promise<StoredRow[]> {
  const place = ['time', 'block_number', 'tx_index', 'log_index', 'sub']
  const direction = order === 'earliest' ? 'ASC' : 'DESC'
  const beyond = `AND (${place.join(', ')}) ${sort === 'asc' ? '>' : '<'}
    (toDateTime({time:UInt32}, 'UTC'), {block:UInt64}, {tx:UInt32}, {log:UInt32}, {sub:UInt32})`
  const range = {
    fromS: clampS(sort === 'asc' && after !== undefined ? Math.max(fromS, after.timeS) : fromS),
    toS: clampS(sort === 'desc' && after !== undefined ? Math.min(toS, after.timeS) : toS),
  }
  const { first_trade_at: firstS = 0, last_trade_at: lastS = 0, tx_count: trades = 0 } = state.pairs.get(pair) ?? {}
  const span = { firstS, lastS, spacingS: (lastS - firstS) / Math.max(1, trades) }
  const read = (from: number, to: number) =>
    store.query<StoredRow>(
      `SELECT toUInt32(time) AS time_s, block_number, ${columns.join(', ')} FROM ${name} FINAL
     WHERE chain = {chain:String} AND pair = {pair:String}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
       AND block_number <= {upTo:UInt64} ${kind === null ? '' : 'AND kind = {kind:String}'}
       ${after === undefined ? '' : beyond}
     ORDER BY ${place.map((column) => `${column} ${direction}`).join(', ')} LIMIT {limit:UInt32}`,
      {
        ...{ chain: state.chain, pair, from, to, limit },
        ...(after === undefined ? {} : placeParams(after)),
        ...(kind === null ? {} : { kind }),
        upTo: Math.min(state.events.storedUpToBlock, upToBlock ?? Number.MAX_SAFE_INTEGER),
      },
    )
  return readNearRows({ ...range, ...span, order, limit }, read)
}

function placeParams({ timeS, blockNumber, tx_index, log_index, sub }: Place) {
  return { time: timeS, block: blockNumber, tx: tx_index, log: log_index, sub }
}

/** Finds an event by id; undefined: the pair has no such event, or a reorg removed it. */
export async function findStoredPlace(
  store: Queries,
  state: ServedChain,
  table: Pick<EventTable<Ordered>, 'name' | 'unflushed'>,
  pair: string,
  id: string,
): Promise<Place | undefined> {
  const kept = table.unflushed(state, pair).find((event) => event.id === id)
  if (kept !== undefined) return kept
  const blockNumber = Number.parseInt(id, 10)
  if (blockNumber > state.events.storedUpToBlock) return undefined
  const [row] = await store.query<StoredRow>(
    `SELECT toUInt32(time) AS time_s, block_number, tx_index, log_index, sub, tx_hash, id FROM ${table.name} FINAL
     WHERE chain = {chain:String} AND pair = {pair:String} AND block_number = {block:UInt64} AND id = {id:String} LIMIT 1`,
    { chain: state.chain, pair, block: blockNumber, id },
  )
  return row === undefined ? undefined : placeOf(row)
}
