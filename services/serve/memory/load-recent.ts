import { bucketStart, K1440 } from '../../core/domain/buckets.js'
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import { CANDLE_FIGURES, type Candle, packCandles } from '../../core/domain/packed-candles.js'
import { UnpackedCandles } from '../../core/domain/pair-events.js'
import type { Store } from '../../core/store/port.js'
import { rowVersion } from '../../core/store/tables.js'
import type { OpenCandles } from './open-candles.js'
import type { TimedPrice } from './pair-trades.js'
import { type ReadFrom, tableIn } from './read-from.js'
import { KEPT_S, type TradeFacts } from './recent-trades.js'
import { type ServedChain, targetDecimals } from './served-chain.js'

/** The list is part of the URL when the store is a server. */
const PAIRS_PER_QUERY = 500
const PAGE_ROWS = 20_000
const LIMITS = { maxRows: PAGE_ROWS, maxSeconds: 60 }
/** How far a block's time may lag behind the chain time. */
const MAX_TIME_LAG_S = 3600
/** Ranges searched for the last good price before the kept trades, nearest first: few pairs need the last one. */
const LOOK_BACK_S = [3600, 90_000, Number.POSITIVE_INFINITY]

type Place = { pair: string; block_number: string; tx_index: number; log_index: number; sub: number }
type TradeRow = Place & {
  time_s: number
  sell: number
  wallet: string
  amount_in: string
  amount_out: string
  amount_usd: number | null
  price_usd: number | null
  flags: number
}
type Span = { chain: string; version: string; sinceS: number; pageRows: number }

/**
 * Loads the trades since a few minutes before the last final block, so that the 1m and 5m windows survive a restart. Rows
 * newer than the state's seq are skipped: their updates add them.
 */
export async function loadRecentTrades(
  store: Store,
  state: ServedChain,
  version: string,
  finalNowS: number,
  pageRows = PAGE_ROWS,
): Promise<void> {
  state.recent.restoreFinal(finalNowS)
  const span = { chain: state.chain, version, sinceS: Math.max(0, finalNowS - KEPT_S), pageRows }
  const traded = [...state.pairs.values()]
    .filter((pair) => pair.last_trade_at > span.sinceS - MAX_TIME_LAG_S)
    .map(({ pair }) => pair)
  for (let at = 0; at < traded.length; at += PAIRS_PER_QUERY) {
    await loadPairs(store, state, span, traded.slice(at, at + PAIRS_PER_QUERY))
  }
}

/**
 * Rows have the time of a pair's last block, not the chain time it was applied at. Where that block's time went back over
 * midnight, a trade of today shows that the pair was updated today.
 */
export async function restoreSeenAt(store: Store, state: ServedChain, version: string): Promise<void> {
  const midnightS = bucketStart(K1440, state.nowS)
  const doubtful = [...state.pairs.values()]
    .filter(({ seen_at }) => seen_at < midnightS && seen_at >= midnightS - MAX_TIME_LAG_S)
    .map(({ pair }) => pair)
  for (let at = 0; at < doubtful.length; at += PAIRS_PER_QUERY) {
    const rows = await store.query<{ pair: string; time_s: number }>(
      `SELECT pair, toUInt32(max(time)) AS time_s FROM trade_rows FINAL
       WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND version <= {version:UInt64}
         AND time >= toDateTime({from:UInt32}, 'UTC')
       GROUP BY pair`,
      { chain: state.chain, version, pairs: doubtful.slice(at, at + PAIRS_PER_QUERY), from: midnightS },
      LIMITS,
    )
    for (const { pair, time_s } of rows) {
      const known = state.pairs.get(pair)
      if (known !== undefined) known.seen_at = time_s
    }
  }
}

async function loadPairs(store: Store, state: ServedChain, span: Span, pairs: string[]): Promise<void> {
  const trades = new Map<string, TradeFacts[]>()
  for await (const row of tradeRows(store, span, pairs)) {
    const known = trades.get(row.pair)
    if (known === undefined) trades.set(row.pair, [tradeOf(row)])
    else known.push(tradeOf(row))
  }
  const before = await goodPricesBefore(store, span, pairs)
  for (const pair of pairs) {
    const decimals = targetDecimals(state, pair) ?? null
    state.recent.restore(pair, trades.get(pair) ?? [], before.get(pair) ?? null, decimals)
  }
}

async function* tradeRows(store: Store, span: Span, pairs: string[]): AsyncGenerator<TradeRow> {
  const { chain, version, sinceS, pageRows } = span
  let after: Place = { pair: '', block_number: '0', tx_index: 0, log_index: 0, sub: 0 }
  for (;;) {
    const rows = await store.query<TradeRow>(
      `SELECT pair, block_number, tx_index, log_index, sub, toUInt32(time) AS time_s, sell, wallet, amount_in, amount_out,
         amount_usd, price_usd, flags
       FROM trade_rows FINAL
       WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND pair >= {pair:String}
         AND time > toDateTime({since:UInt32}, 'UTC') AND version <= {version:UInt64}
         AND (pair, block_number, tx_index, log_index, sub)
           > ({pair:String}, {block:UInt64}, {tx:UInt32}, {log:UInt32}, {sub:UInt32})
       ORDER BY pair, block_number, tx_index, log_index, sub LIMIT {limit:UInt32}`,
      {
        ...{ chain, version, pairs, since: sinceS, pair: after.pair, block: after.block_number },
        ...{ tx: after.tx_index, log: after.log_index, sub: after.sub, limit: pageRows },
      },
      LIMITS,
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last
  }
}

/** By pair; pairs without a good price are absent. */
async function goodPricesBefore(
  store: Store,
  { chain, version, sinceS }: Span,
  pairs: string[],
): Promise<Map<string, TimedPrice>> {
  const found = new Map<string, TimedPrice>()
  for (const backS of LOOK_BACK_S) {
    const wanted = pairs.filter((pair) => !found.has(pair))
    if (wanted.length === 0) return found
    const rows = await store.query<{ pair: string; time_s: number; price: number }>(
      `SELECT pair, toUInt32(max(time)) AS time_s,
         argMax(price_usd, (time, block_number, tx_index, log_index, sub)) AS price
       FROM trade_rows FINAL
       WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND version <= {version:UInt64}
         AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({until:UInt32}, 'UTC')
         AND flags = 0 AND NOT isNaN(price_usd)
       GROUP BY pair`,
      { chain, version, pairs: wanted, from: Math.max(0, sinceS - backS), until: sinceS },
      LIMITS,
    )
    for (const { pair, time_s, price } of rows) found.set(pair, { timeS: time_s, priceUsd: price })
  }
  return found
}

function tradeOf(row: TradeRow): TradeFacts {
  return {
    timeS: row.time_s,
    block: Number(row.block_number),
    sell: row.sell === 1,
    wallet: row.wallet,
    amountIn: row.amount_in,
    amountOut: row.amount_out,
    amountUsd: row.amount_usd ?? Number.NaN,
    priceUsd: row.price_usd ?? Number.NaN,
    flags: row.flags,
  }
}

/** `figures`: in the order of CANDLE_FIGURES. */
type CandleRow = { pair: string; interval: Interval; figures: (number | null)[]; is_deleted: number }

/** The position and chain time of an update, all of whose rows are stored. */
export type OpenAt = { epoch: number; seq: number; now: number }

/** Loads the candles that were open after an update. Later changes come with their own updates. */
export async function loadOpenCandles(
  store: Store,
  chain: string,
  open: OpenCandles,
  at: OpenAt,
  from: ReadFrom = {},
): Promise<void> {
  if (from.since === undefined) open.clear()
  else open.takeEnded(at.now)
  const starts = new Map(INTERVALS.map((interval, index) => [interval, Math.max(0, bucketStart(index, at.now))]))
  for await (const { pair, interval, figures, is_deleted } of candleRows(store, chain, starts, at, from)) {
    const named = Object.fromEntries(CANDLE_FIGURES.map((name, n) => [name, figures[n] ?? Number.NaN]))
    const stored = { ...named, interval, time: starts.get(interval) ?? 0, removed: is_deleted === 1 } as Candle
    open.note(pair, new UnpackedCandles(packCandles([stored])), at.now)
  }
}

/** FINAL would merge all candles of the chain before it finds the few open ones: pushes may wait for them. */
async function* candleRows(
  store: Store,
  chain: string,
  starts: ReadonlyMap<Interval, number>,
  at: OpenAt,
  from: ReadFrom,
): AsyncGenerator<CandleRow> {
  const version = String(rowVersion(at.epoch, at.seq))
  const { since = '0' } = from
  const times = [...new Set(starts.values())].map((startS) => `toDateTime(${startS}, 'UTC')`).join(', ')
  const buckets = [...starts].map(([interval, startS]) => `('${interval}', ${startS})`).join(', ')
  let after = { pair: '', interval: '' }
  for (;;) {
    const rows = await store.query<CandleRow>(
      `SELECT pair, interval, figures, is_deleted FROM (
         SELECT pair, interval, version, is_deleted, [${CANDLE_FIGURES.join(', ')}] AS figures
         FROM ${tableIn(from, 'candle_rows')}
         PREWHERE chain = {chain:String} AND time IN (${times}) AND version > {since:UInt64}
         WHERE (interval, toUInt32(time)) IN (${buckets})
           AND pair >= {pair:String} AND (pair, interval) > ({pair:String}, {interval:String})
         ORDER BY pair, interval, version DESC LIMIT 1 BY pair, interval)
       WHERE version <= {version:UInt64}
       ORDER BY pair, interval LIMIT {limit:UInt32}`,
      { chain, version, since, ...after, limit: PAGE_ROWS },
      LIMITS,
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = { pair: last.pair, interval: last.interval }
  }
}
