/** Entries of an update: the state of pairs and tokens as it is published. */
import { bucketStart, K1440 } from '../../core/domain/buckets.js'
import { RANK } from '../../core/domain/money.js'
import { NO_CANDLES } from '../../core/domain/packed-candles.js'
import {
  type PackedWindows,
  SAME_AS_MAIN_PAIR,
  WINDOW_WIDTH,
  WINDOWS_LENGTH,
} from '../../core/domain/packed-windows.js'
import type { BlockUpdate, PairInfo, PairUpdate, TokenInfo, TokenUpdate } from '../../core/domain/records.js'
import { type BucketRing, FIRST, USD } from '../state/bucket-ring.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { FIGURE, WINDOW_COUNT, type Windows } from '../state/rolling-windows.js'
import { TOKEN } from '../state/tokens.js'
import { shortLivedDoubles } from './short-lived-doubles.js'

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
    share_supply: texts?.shareSupply ?? null,
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
    candles: NO_CANDLES,
    trades: [],
    liquidity: [],
  }
}

/** Without a good price today (UTC) the last one; else the close of the last day before, or the first price. */
function dayPrice(state: FoldState, pair: number): number {
  const { rows, active } = state.pairs
  const days = active[pair]?.rings[K1440]
  const today = days?.lowerBound(bucketStart(K1440, state.nowS)) ?? 0
  if (days === undefined || !hasGoodPriceFrom(days, today)) return rows.get(pair, PAIR.priceUsd)
  const before = days.closeBefore(today, 0)
  return Number.isNaN(before) ? rows.get(pair, PAIR.openPriceUsd) : before
}

function hasGoodPriceFrom(ring: BucketRing, from: number): boolean {
  for (let index = from; index < ring.count; index += 1)
    if (!Number.isNaN(ring.data[ring.at(index) + USD + FIRST] as number)) return true
  return false
}

/** `published`: pairs with an entry in the same update, whose windows need not be repeated. */
export function tokenUpdate(state: FoldState, token: number, withInfo: boolean, published: Ids = NONE): TokenUpdate {
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
    windows: isRepeated(state, token, main, published) ? SAME_AS_MAIN_PAIR : tokenWindows(state, token, main),
  }
}

/** Volumes and counts are over all its pairs; the price before a window is its main pair's. */
function tokenWindows(state: FoldState, token: number, mainPair: number): PackedWindows {
  const packed = windowsOf(state.tokenWindows(token), state.nowS, Number.NaN)
  const resting = mainPair < 0 ? Number.NaN : state.pairs.rows.get(mainPair, PAIR.priceUsd)
  const windows = mainPair < 0 ? undefined : state.pairs.active[mainPair]?.windows
  for (let w = 0; w < WINDOW_COUNT; w += 1) {
    packed[w * WINDOW_WIDTH + FIGURE.priceBefore] = windows?.priceBefore(w, state.nowS) ?? resting
  }
  return packed
}

type Ids = { has(id: number): boolean }
const NONE: Ids = new Set()

/** The windows of a token with a single pair, its main pair, are that pair's. */
function isRepeated({ tokens }: FoldState, token: number, mainPair: number, published: Ids): boolean {
  const own = tokens.windows[token] ?? null
  return own === null && published.has(mainPair) && tokens.pairsOf(token)[0] === mainPair
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
    launch_price: texts?.launchPrice ?? null,
    holders_since: texts?.holdersSinceS ?? null,
  }
}

/** `restingPrice`: the price before every window of a pair that has not traded for longer than any of them. */
function windowsOf(windows: Windows | null, nowS: number, restingPrice: number): PackedWindows {
  const packed = shortLivedDoubles(WINDOWS_LENGTH)
  if (windows !== null) windows.evaluate(nowS, packed)
  else {
    for (let at = 0; at < packed.length; at += WINDOW_WIDTH) {
      packed[at + FIGURE.high] = Number.NaN
      packed[at + FIGURE.low] = Number.NaN
      packed[at + FIGURE.priceBefore] = restingPrice
    }
  }
  return packed
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
    entries.push({ ...entry, candles: NO_CANDLES, trades: part, liquidity: [] })
  for (const part of slices(liquidity, EVENTS_PER_ENTRY))
    entries.push({ ...entry, candles: NO_CANDLES, trades: [], liquidity: part })
  const last = entries.pop() as PairUpdate
  return [...entries, { ...last, candles: entry.candles }]
}

export function splitRetracted(entry: BlockUpdate['retracted'][number]): BlockUpdate['retracted'] {
  if (entry.ids.length <= IDS_PER_ENTRY) return [entry]
  return slices(entry.ids, IDS_PER_ENTRY).map((ids) => ({ ...entry, ids }))
}

function slices<T>(list: T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size))
  return parts
}
