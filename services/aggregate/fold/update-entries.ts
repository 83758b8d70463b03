/** Entries of an update: the state of pairs and tokens as it is published. */
import { bucketStart, K1440 } from '../../core/domain/buckets.js'
import { INTERVALS } from '../../core/domain/chains.js'
import { RANK } from '../../core/domain/money.js'
import type { Candle, PairInfo, PairUpdate, TokenInfo, TokenUpdate, Update, Window } from '../../core/domain/records.js'
import {
  type BucketRing,
  CLOSE,
  CURRENCIES,
  FIRST,
  HIGH,
  LOW,
  NATIVE,
  OPEN,
  QUOTE,
  USD,
  VOLUME,
} from '../state/bucket-ring.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { FIGURE, FIGURES, WINDOW_COUNT, type Windows } from '../state/rolling-windows.js'
import { TOKEN } from '../state/tokens.js'
import type { CandleKey } from './merge-candles.js'

const figures = new Float64Array(WINDOW_COUNT * FIGURES)

export function pairInfo(state: FoldState, pair: number): PairInfo {
  const { rows, text } = state.pairs
  const fee = rows.get(pair, PAIR.fee)
  const texts = text[pair]
  return {
    amm: texts?.amm ?? '',
    token0: state.tokens.address[rows.get(pair, PAIR.token0)] ?? '',
    token1: state.tokens.address[rows.get(pair, PAIR.token1)] ?? '',
    target: rows.get(pair, PAIR.target),
    fee: Number.isNaN(fee) ? null : fee,
    creator: texts?.creator ?? null,
    created_at: rows.get(pair, PAIR.createdAtS),
    created_block: rows.get(pair, PAIR.createdBlock),
  }
}

/** `candles`, `trades` and `liquidity` are the block's own and filled in by the caller. */
export function pairUpdate(state: FoldState, pair: number): PairUpdate {
  const { rows, text, active } = state.pairs
  const texts = text[pair]
  return {
    pair: state.pairs.address[pair] ?? '',
    info: null,
    price_usd: rows.get(pair, PAIR.priceUsd),
    price_native: rows.get(pair, PAIR.priceNative),
    price_quote: rows.get(pair, PAIR.priceQuote),
    last_price_usd: rows.get(pair, PAIR.lastPriceUsd),
    price_day_usd: dayPrice(state, pair),
    quote_usd: rows.get(pair, PAIR.quoteUsd),
    open_price_usd: rows.get(pair, PAIR.openPriceUsd),
    ath_usd: rows.get(pair, PAIR.athUsd),
    reserve0: texts?.reserve0 ?? null,
    reserve1: texts?.reserve1 ?? null,
    init_reserve0: texts?.initReserve0 ?? null,
    init_reserve1: texts?.initReserve1 ?? null,
    tvl: rows.get(pair, PAIR.tvlUsd),
    liquidity_usd: rows.get(pair, PAIR.liquidityUsd),
    liquidity_native: rows.get(pair, PAIR.liquidityNative),
    tx_count: rows.get(pair, PAIR.txCount),
    first_trade_at: rows.get(pair, PAIR.firstTradeAtS),
    first_trade_block: rows.get(pair, PAIR.firstTradeBlock),
    last_trade_at: rows.get(pair, PAIR.lastTradeAtS),
    updated_at: rows.get(pair, PAIR.updatedAtS),
    windows: windowsOf(active[pair]?.windows ?? null, state.nowS, rows.get(pair, PAIR.priceUsd)),
    candles: [],
    trades: [],
    liquidity: [],
  }
}

/** The last good price before today 00:00 UTC, else the first after. */
function dayPrice(state: FoldState, pair: number): number {
  const active = state.pairs.active[pair]
  if (active === null || active === undefined) return state.pairs.rows.get(pair, PAIR.priceUsd)
  const days = active.rings[K1440] as BucketRing
  const before = days.closeBefore(days.lowerBound(bucketStart(K1440, state.nowS)), 0)
  return Number.isNaN(before) ? state.pairs.rows.get(pair, PAIR.openPriceUsd) : before
}

export function tokenUpdate(state: FoldState, token: number, withInfo: boolean): TokenUpdate {
  const { rows } = state.tokens
  const main = rows.get(token, TOKEN.mainPair)
  return {
    token: state.tokens.address[token] ?? '',
    info: withInfo ? tokenInfo(state, token) : null,
    price_usd: rows.get(token, TOKEN.priceUsd),
    price_native: tokenNativePrice(state, token),
    main_pair: main < 0 ? null : (state.pairs.address[main] ?? null),
    tvl: tokenTvl(state, token),
    holders: rows.get(token, TOKEN.holders),
    updated_at: rows.get(token, TOKEN.updatedAtS),
    windows: tokenWindows(state, token, main),
  }
}

/** Volumes and counts are over all its pairs; the price before a window is its main pair's. */
function tokenWindows(state: FoldState, token: number, mainPair: number): Window[] {
  const list = windowsOf(state.tokenWindows(token), state.nowS, Number.NaN)
  const resting = mainPair < 0 ? Number.NaN : state.pairs.rows.get(mainPair, PAIR.priceUsd)
  const windows = mainPair < 0 ? undefined : state.pairs.active[mainPair]?.windows
  for (const [w, window] of list.entries()) window.price_before = windows?.priceBefore(w, state.nowS) ?? resting
  return list
}

/** Unknown for anchor and stables: it changes with the native coin's price, without an event of these tokens. */
function tokenNativePrice(state: FoldState, token: number): number {
  const { rows } = state.tokens
  return rows.get(token, TOKEN.rank) === RANK.native ? 1 : rows.get(token, TOKEN.priceNative)
}

function tokenTvl(state: FoldState, token: number): number {
  let sum = Number.NaN
  for (const pair of state.tokens.pairsOf(token)) {
    const tvl = state.pairs.rows.get(pair, PAIR.tvlUsd)
    if (!Number.isNaN(tvl)) sum = Number.isNaN(sum) ? tvl : sum + tvl
  }
  return sum
}

export function tokenInfo(state: FoldState, token: number): TokenInfo {
  const { rows, text } = state.tokens
  const texts = text[token]
  const decimals = rows.get(token, TOKEN.decimals)
  const launch = texts?.launch ?? null
  return {
    name: texts?.name ?? null,
    symbol: texts?.symbol ?? null,
    decimals: Number.isNaN(decimals) ? null : decimals,
    total_supply: texts?.totalSupply ?? null,
    owner: texts?.owner ?? null,
    risk: texts?.risk ?? null,
    logo_url: texts?.logoUrl ?? null,
    links: texts?.links ?? null,
    created_at: rows.get(token, TOKEN.createdAtS),
    launch_platform: launch?.platform ?? null,
    launch_stage: launch?.stage ?? null,
    launch_progress: launch?.progress ?? Number.NaN,
    launch_pool: launch?.pool ?? null,
    launch_at: launch?.atS ?? 0,
    burnt_supply: texts?.burntSupply ?? null,
  }
}

/** `restingPrice`: the price before every window of a pair that has not traded for longer than any of them. */
function windowsOf(windows: Windows | null, nowS: number, restingPrice: number): Window[] {
  if (windows === null) {
    figures.fill(0)
    for (let at = 0; at < figures.length; at += FIGURES) {
      figures[at + FIGURE.high] = Number.NaN
      figures[at + FIGURE.low] = Number.NaN
      figures[at + FIGURE.priceBefore] = restingPrice
    }
  } else windows.evaluate(nowS, figures)
  const list: Window[] = []
  for (let at = 0; at < figures.length; at += FIGURES) {
    list.push({
      buy_volume: figures[at] as number,
      sell_volume: figures[at + 1] as number,
      buys: figures[at + 2] as number,
      sells: figures[at + 3] as number,
      buyers: figures[at + 4] as number,
      sellers: figures[at + 5] as number,
      makers: figures[at + 6] as number,
      amount: figures[at + 7] as number,
      high: figures[at + 8] as number,
      low: figures[at + 9] as number,
      price_before: figures[at + 10] as number,
    })
  }
  return list
}

/** The pair's candle as it is now; `removed` if it does not exist (any more). */
export function candleOf(state: FoldState, pair: number, { interval, timeS }: CandleKey): Candle {
  const ring = state.pairs.active[pair]?.rings[interval]
  const index = ring === undefined ? -1 : ring.indexOf(timeS)
  if (ring === undefined || index < 0) return candle(interval, timeS, REMOVED, 0, true)
  const at = ring.at(index)
  const exists = CURRENCIES.some((base) => !Number.isNaN(ring.data[at + base + OPEN] as number))
  return candle(interval, timeS, ring.data, at, !exists)
}

const REMOVED = new Float64Array(QUOTE + VOLUME + 1).fill(Number.NaN)

function candle(interval: number, timeS: number, data: Float64Array, at: number, removed: boolean): Candle {
  const u = at + USD
  const m = at + NATIVE
  const r = at + QUOTE
  return {
    interval: INTERVALS[interval] as string,
    time: timeS,
    open_u: data[u + OPEN] as number,
    first_u: data[u + FIRST] as number,
    high_u: high(data, u),
    low_u: low(data, u),
    close_u: data[u + CLOSE] as number,
    volume_u: data[u + VOLUME] as number,
    open_m: data[m + OPEN] as number,
    first_m: data[m + FIRST] as number,
    high_m: high(data, m),
    low_m: low(data, m),
    close_m: data[m + CLOSE] as number,
    volume_m: data[m + VOLUME] as number,
    open_r: data[r + OPEN] as number,
    first_r: data[r + FIRST] as number,
    high_r: high(data, r),
    low_r: low(data, r),
    close_r: data[r + CLOSE] as number,
    volume_r: data[r + VOLUME] as number,
    removed,
  }
}

/** A candle's high covers its open; without a good price (NaN) it is the open. */
function high(data: Float64Array, base: number): number {
  const open = data[base + OPEN] as number
  const top = data[base + HIGH] as number
  return Number.isNaN(top) ? open : Math.max(open, top)
}

function low(data: Float64Array, base: number): number {
  const open = data[base + OPEN] as number
  const bottom = data[base + LOW] as number
  return Number.isNaN(bottom) ? open : Math.min(open, bottom)
}

/** Trades are some 600 bytes each, ids some 20. */
const EVENTS_PER_ENTRY = 800
const IDS_PER_ENTRY = 20_000

/** The log limits the size of a record: a large entry is published as several; the last one has the candles. */
export function splitPairEntry(entry: PairUpdate): PairUpdate[] {
  const { trades, liquidity } = entry
  if (trades.length + liquidity.length <= EVENTS_PER_ENTRY) return [entry]
  const entries: PairUpdate[] = []
  for (const part of slices(trades, EVENTS_PER_ENTRY))
    entries.push({ ...entry, candles: [], trades: part, liquidity: [] })
  for (const part of slices(liquidity, EVENTS_PER_ENTRY))
    entries.push({ ...entry, candles: [], trades: [], liquidity: part })
  const last = entries.pop() as PairUpdate
  return [...entries, { ...last, candles: entry.candles }]
}

export function splitRetracted(entry: Update['retracted'][number]): Update['retracted'] {
  if (entry.ids.length <= IDS_PER_ENTRY) return [entry]
  return slices(entry.ids, IDS_PER_ENTRY).map((ids) => ({ ...entry, ids }))
}

function slices<T>(list: T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}
