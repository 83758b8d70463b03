import type { LiquidityKind, LiquidityTrade, Trade } from '../../core/domain/records.js'
import type { Store } from '../../core/store/port.js'
import type { Placed } from '../memory/event-overlay.js'
import type { ServedChain } from '../memory/served-chain.js'

export type EventQuery = {
  pair: string
  limit: number
  fromS: number | undefined
  toS: number | undefined
  sort: 'asc' | 'desc'
  /** Return only items after this position, in the order of `sort`. */
  after: Place | undefined
}

/** Position of an event in its pair's history. */
export type Place = Placed<{ tx_index: number; log_index: number; sub: number }>
type Ordered = Place & { id: string }
type Table = { name: 'trade_rows' | 'liquidity_rows'; columns: readonly string[]; kinds: readonly string[] }

/**
 * Reads a pair's swaps: stored rows merged with memory, so that pushed data is in the next response. Ascending from a given
 * start: the first `limit`; otherwise the last `limit`, in the requested order.
 */
export async function readTrades(store: Store, state: ServedChain, query: EventQuery): Promise<Placed<Trade>[]> {
  const table: Table = { name: 'trade_rows', columns: TRADE_COLUMNS, kinds: [] }
  return read(store, state, query, table, tradeOf, state.events.trades(query.pair))
}

export async function readLiquidity(
  store: Store,
  state: ServedChain,
  query: EventQuery,
  kind: LiquidityKind | 'all',
): Promise<Placed<LiquidityTrade>[]> {
  const kinds = kind === 'all' ? [] : [kind]
  const table: Table = { name: 'liquidity_rows', columns: LIQUIDITY_COLUMNS, kinds }
  const unflushed = state.events.liquidity(query.pair).filter((event) => kind === 'all' || event.kind === kind)
  return read(store, state, query, table, liquidityOf, unflushed)
}

async function read<Event extends Ordered>(
  store: Store,
  state: ServedChain,
  query: EventQuery,
  table: Table,
  eventOf: (row: StoredRow) => Event,
  unflushed: readonly Event[],
): Promise<Event[]> {
  const { fromS = 0, toS = Number.MAX_SAFE_INTEGER, limit, sort } = query
  const forward = sort === 'asc' && (query.fromS !== undefined || query.after !== undefined)
  const rows = await storedRows(store, state, query, table, forward ? 'ASC' : 'DESC')
  const byId = new Map(rows.map(eventOf).map((event) => [event.id, event]))
  for (const event of unflushed) {
    if (event.timeS >= fromS && event.timeS <= toS && isAfter(event, query)) byId.set(event.id, event)
  }
  const ascending = [...byId.values()].sort(inOrder)
  const taken = forward ? ascending.slice(0, limit) : ascending.slice(-limit)
  return sort === 'asc' ? taken : taken.reverse()
}

function isAfter(event: Ordered, { after, sort }: EventQuery): boolean {
  return after === undefined || (sort === 'asc' ? inOrder(event, after) > 0 : inOrder(event, after) < 0)
}

/** By time first: block times may decrease, and clients page by time. */
function inOrder(a: Place, b: Place): number {
  return (
    a.timeS - b.timeS ||
    a.blockNumber - b.blockNumber ||
    a.tx_index - b.tx_index ||
    a.log_index - b.log_index ||
    a.sub - b.sub
  )
}

async function storedRows(
  store: Store,
  state: ServedChain,
  { pair, limit, fromS = 0, toS = Number.MAX_SAFE_INTEGER, sort, after }: EventQuery,
  { name, columns, kinds }: Table,
  direction: 'ASC' | 'DESC',
): Promise<StoredRow[]> {
  const order = ['time', 'block_number', 'tx_index', 'log_index', 'sub']
  const beyond = `AND (${order.join(', ')}) ${sort === 'asc' ? '>' : '<'}
    (toDateTime({time:UInt32}, 'UTC'), {block:UInt64}, {tx:UInt32}, {log:UInt32}, {sub:UInt32})`
  return store.query<StoredRow>(
    `SELECT toUInt32(time) AS time_s, block_number, ${columns.join(', ')} FROM ${name} FINAL
     WHERE chain = {chain:String} AND pair = {pair:String}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
       AND block_number <= {upTo:UInt64} ${kinds.length === 0 ? '' : 'AND kind IN {kinds:Array(String)}'}
       ${after === undefined ? '' : beyond}
     ORDER BY ${order.map((column) => `${column} ${direction}`).join(', ')} LIMIT {limit:UInt32}`,
    {
      ...{ chain: state.chain, pair, from: clampS(fromS), to: clampS(toS), limit, kinds },
      ...(after === undefined ? {} : placeParams(after)),
      upTo: state.events.storedUpToBlock,
    },
  )
}

function placeParams({ timeS, blockNumber, tx_index, log_index, sub }: Place) {
  return { time: timeS, block: blockNumber, tx: tx_index, log: log_index, sub }
}

/** Finds an event by id; undefined: the pair has no such event, or a reorg removed it. */
export async function findPlace(
  store: Store,
  state: ServedChain,
  table: Table['name'],
  pair: string,
  id: string,
): Promise<Place | undefined> {
  const unflushed: Ordered[] = table === 'trade_rows' ? state.events.trades(pair) : state.events.liquidity(pair)
  const kept = unflushed.find((event) => event.id === id)
  if (kept !== undefined) return kept
  const blockNumber = Number.parseInt(id, 10)
  if (blockNumber > state.events.storedUpToBlock) return undefined
  const [row] = await store.query<StoredRow>(
    `SELECT toUInt32(time) AS time_s, block_number, tx_index, log_index, sub, tx_hash, id FROM ${table} FINAL
     WHERE chain = {chain:String} AND pair = {pair:String} AND block_number = {block:UInt64} AND id = {id:String} LIMIT 1`,
    { chain: state.chain, pair, block: blockNumber, id },
  )
  return row === undefined ? undefined : placeOf(row)
}

function clampS(timeS: number): number {
  return Math.min(timeS, 0xffff_ffff)
}

/** 64-bit integers arrive as text, unknown numbers as null. */
export type StoredRow = Record<string, string | number | null>

const PLACE = ['tx_index', 'log_index', 'sub', 'tx_hash', 'id'] as const

export const TRADE_COLUMNS = [
  ...PLACE,
  ...(['tx_seq', 'sell', 'sender', 'recipient', 'wallet', 'amount_in', 'amount_out', 'reserve0', 'reserve1'] as const),
  ...(['price_usd', 'price_native', 'price_quote', 'quote_usd', 'quote_native', 'amount_usd'] as const),
  ...(['amount_native', 'flags', 'quote_path'] as const),
]

export const LIQUIDITY_COLUMNS = [
  ...PLACE,
  ...(['kind', 'sender', 'wallet', 'amount0', 'amount1', 'reserve0', 'reserve1', 'amount_usd'] as const),
  ...(['amount_native', 'price0_usd', 'price1_usd'] as const),
]

export function tradeOf(row: StoredRow): Placed<Trade> {
  return {
    ...placeOf(row),
    tx_seq: Number(row.tx_seq),
    sell: Number(row.sell) === 1,
    ...{ sender: String(row.sender), recipient: String(row.recipient), wallet: String(row.wallet) },
    ...{ amount_in: String(row.amount_in), amount_out: String(row.amount_out) },
    ...{ reserve0: rawOf(row.reserve0), reserve1: rawOf(row.reserve1) },
    price_usd: numberOf(row.price_usd),
    price_native: numberOf(row.price_native),
    price_quote: numberOf(row.price_quote),
    quote_usd: numberOf(row.quote_usd),
    quote_native: numberOf(row.quote_native),
    amount_usd: numberOf(row.amount_usd),
    amount_native: numberOf(row.amount_native),
    flags: Number(row.flags),
    quote_path: String(row.quote_path),
    profile: null,
  }
}

export function liquidityOf(row: StoredRow): Placed<LiquidityTrade> {
  return {
    ...placeOf(row),
    kind: String(row.kind) as LiquidityKind,
    ...{ sender: String(row.sender), wallet: String(row.wallet) },
    ...{ amount0: String(row.amount0), amount1: String(row.amount1) },
    ...{ reserve0: rawOf(row.reserve0), reserve1: rawOf(row.reserve1) },
    amount_usd: numberOf(row.amount_usd),
    amount_native: numberOf(row.amount_native),
    price0_usd: numberOf(row.price0_usd),
    price1_usd: numberOf(row.price1_usd),
  }
}

export function placeOf(row: StoredRow) {
  return {
    ...{ timeS: Number(row.time_s), blockNumber: Number(row.block_number) },
    ...{ tx_index: Number(row.tx_index), log_index: Number(row.log_index), sub: Number(row.sub) },
    ...{ tx_hash: String(row.tx_hash), id: String(row.id) },
  }
}

function numberOf(value: string | number | null | undefined): number {
  return value === null || value === undefined ? Number.NaN : Number(value)
}

function rawOf(value: string | number | null | undefined): string | null {
  return value === '' || value === null || value === undefined ? null : String(value)
}
