/**
 * The reference: every number of docs/data.md computed from scratch, by filtering and grouping lists of everything that
 * happened. Slow on purpose; nothing is kept up to date that can be recomputed.
 */
import { type ChainFacts, INTERVALS } from '../../../services/core/domain/chains.js'
import type { Window } from '../../../services/core/domain/packed-windows.js'
import type {
  Book,
  Dead,
  MainPairChange,
  Pool,
  Position,
  ReferenceHour,
  ReferenceLiquidity,
  ReferenceTrade,
} from './book.js'
import { isGood } from './book.js'
import { burntSupply } from './burnt.js'
import { candlesOf, type ReferenceCandle } from './candles.js'
import { tokenTvl } from './depth.js'
import { type RecordingLine, survivingBlocks } from './lines.js'
import { nativePrice, usdPrice } from './prices.js'
import { walk } from './walk.js'
import { windowsOf } from './windows.js'

export type ReferencePair = {
  amm: string
  token0: string
  token1: string
  /** 0 or 1: which token is the target */
  target: number
  target_token: string
  quote_token: string
  fee: number | null
  creator: string | null
  created_at: number
  created_block: number
  price_usd: number
  price_native: number
  price_quote: number
  price_day_usd: number
  /** The quote's price at the recording's end, not at the pair's last update. */
  quote_usd: number
  open_price_usd: number
  ath_usd: number
  reserve0: string | null
  reserve1: string | null
  init_reserve0: string | null
  init_reserve1: string | null
  tvl: number
  liquidity_usd: number
  liquidity_native: number
  tx_count: number
  /** 0 before the first trade, as the other two */
  first_trade_at: number
  first_trade_block: number
  last_trade_at: number
  windows: Window[]
}

export type ReferenceToken = {
  name: string | null
  symbol: string | null
  decimals: number | null
  total_supply: string | null
  price_usd: number
  price_native: number
  main_pair: string | null
  tvl: number
  holders: number
  burnt_supply: string | null
  launch_price: number | null
  windows: Window[]
}

export type Reference = {
  chain: string
  head: { number: number; hash: string; time: number } | null
  now: number
  /** The canonical blocks. */
  blocks: { number: number; hash: string; time: number }[]
  trades: ReferenceTrade[]
  liquidity: ReferenceLiquidity[]
  /** Keyed `pair|interval|time`. */
  candles: Map<string, ReferenceCandle>
  pairs: Map<string, ReferencePair>
  tokens: Map<string, ReferenceToken>
  /** One per token and block: the main pair before the block and after it. */
  mainPairChanges: MainPairChange[]
  /** Each step, including those inside a block. */
  mainPairSteps: MainPairChange[]
  /** Keyed `token|holder`; a balance of 0 stays in. */
  holders: Map<string, bigint>
  /** The event that made a token's decimals known. */
  decimalsSince: Map<string, Position>
  dead: Dead[]
  /** Keyed `pair|hour`. */
  pairHours: Map<string, ReferenceHour>
  holderHours: Map<string, number>
}

export function recompute(records: readonly RecordingLine[], money: ChainFacts): Reference {
  const blocks = survivingBlocks(records, money.family).map(({ number, hash, time, ...rest }) => ({
    number,
    hash,
    time,
    ...rest,
  }))
  const book = walk(blocks, money)
  const pools = [...book.pools.values()]
  const candles = new Map<string, ReferenceCandle>()
  for (const pool of pools) {
    for (const interval of INTERVALS) {
      for (const [time, candle] of candlesOf(pool.trades, interval))
        candles.set(`${pool.pool}|${interval}|${time}`, candle)
    }
  }
  return {
    chain: money.chain,
    head: blocks.map(({ number, hash, time }) => ({ number, hash, time })).at(-1) ?? null,
    now: book.now,
    blocks: blocks.map(({ number, hash, time }) => ({ number, hash, time })),
    trades: book.trades,
    liquidity: book.liquidity,
    candles,
    pairs: new Map(pools.map((pool) => [pool.pool, pairOf(book, pool)])),
    tokens: new Map([...book.tokens.keys()].map((token) => [token, tokenAtEnd(book, token)])),
    mainPairChanges: netChanges(book.mainPairSteps),
    mainPairSteps: book.mainPairSteps,
    holders: book.holders,
    decimalsSince: book.decimalsSince,
    dead: book.dead,
    pairHours: book.pairHours,
    holderHours: book.holderHours,
  }
}

function pairOf(book: Book, pool: Pool): ReferencePair {
  const good = pool.trades.filter(isGood)
  const [first, last] = [pool.trades[0], pool.trades.at(-1)]
  return {
    ...{ amm: pool.amm, token0: pool.token0, token1: pool.token1, target: pool.targetIsToken0 ? 0 : 1 },
    ...{ target_token: pool.target, quote_token: pool.quote, fee: pool.fee, creator: pool.creator },
    ...{ created_at: pool.createdAt, created_block: pool.createdBlock },
    ...{ price_usd: pool.usd, price_native: pool.native, price_quote: pool.quotePrice },
    price_day_usd: dayPrice(good, book.now),
    quote_usd: usdPrice(book, pool.quote),
    open_price_usd: good[0]?.price_usd ?? Number.NaN,
    ath_usd: good.length === 0 ? Number.NaN : good.map((trade) => trade.price_usd).reduce((a, b) => Math.max(a, b)),
    ...{ reserve0: pool.reserve0, reserve1: pool.reserve1 },
    ...{ init_reserve0: pool.initReserves?.reserve0 ?? null, init_reserve1: pool.initReserves?.reserve1 ?? null },
    ...{ tvl: pool.tvl, liquidity_usd: pool.liquidityUsd, liquidity_native: pool.liquidityNative },
    tx_count: pool.trades.length,
    ...{
      first_trade_at: first?.time ?? 0,
      first_trade_block: first?.block_number ?? 0,
      last_trade_at: last?.time ?? 0,
    },
    windows: windowsOf(pool.trades, book.now),
  }
}

/** Without a good price today the last one; else the last of the latest day before, or the first. */
function dayPrice(good: readonly ReferenceTrade[], now: number): number {
  const dayOf = (time: number): number => Math.floor(time / 86_400)
  if (!good.some((trade) => dayOf(trade.time) === dayOf(now))) return good.at(-1)?.price_usd ?? Number.NaN
  const earlier = good.filter((trade) => dayOf(trade.time) < dayOf(now))
  const lastDay = earlier.reduce((latest, trade) => Math.max(latest, dayOf(trade.time)), Number.NEGATIVE_INFINITY)
  return (earlier.findLast((trade) => dayOf(trade.time) === lastDay) ?? good[0])?.price_usd ?? Number.NaN
}

function tokenAtEnd(book: Book, token: string): ReferenceToken {
  const state = book.tokens.get(token)
  const trades = book.trades.filter((trade) => book.pools.get(trade.pair)?.target === token)
  const balances = [...book.holders].filter(([key]) => key.startsWith(`${token}|`)).map(([, balance]) => balance)
  return {
    ...{ name: state?.name ?? null, symbol: state?.symbol ?? null },
    ...{ decimals: state?.decimals ?? null, total_supply: state?.totalSupply ?? null },
    price_usd: usdPrice(book, token),
    price_native: nativePrice(book, token),
    main_pair: state?.mainPair?.pool ?? null,
    tvl: tokenTvl(book, token),
    holders: balances.filter((balance) => balance > 0n).length,
    burnt_supply: burntSupply(book, token),
    launch_price: launchPrice(book, token),
    windows: windowsOf(trades, book.now, state?.mainPair?.trades ?? []),
  }
}

/** Of the first good trade in its first pool, if that pool's creation is in the history. */
function launchPrice({ pools }: Book, token: string): number | null {
  const first = [...pools.values()].find(({ target }) => target === token)
  if (first?.isCreated !== true) return null
  return first.trades.find(({ flags }) => flags === 0)?.price_usd ?? null
}

function netChanges(steps: readonly MainPairChange[]): MainPairChange[] {
  const net = new Map<string, MainPairChange>()
  for (const step of steps) {
    const key = `${step.block}|${step.token}`
    net.set(key, { ...step, old_pair: (net.get(key) ?? step).old_pair })
  }
  return [...net.values()].filter((change) => change.old_pair !== change.new_pair)
}

export type WindowsAt = { now: number; pairs: Map<string, Window[]>; tokens: Map<string, Window[]> }

/** The windows after a block, for the pairs known by then and their targets. */
export function windowsAt(reference: Reference, blockNumber: number): WindowsAt {
  const times = reference.blocks.filter((block) => block.number <= blockNumber).map((block) => block.time)
  const now = times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const trades = reference.trades.filter((trade) => trade.block_number <= blockNumber)
  const existing = [...reference.pairs].filter(([, pair]) => pair.created_block <= blockNumber)
  const targetOf = new Map(existing.map(([name, pair]) => [name, pair.target_token]))
  const ofPair = (name: string | null): ReferenceTrade[] => trades.filter((trade) => trade.pair === name)
  const mainPairOf = (token: string): string | null =>
    reference.mainPairSteps.findLast((step) => step.token === token && step.block <= blockNumber)?.new_pair ?? null
  const tokenWindows = (token: string): Window[] =>
    windowsOf(
      trades.filter((trade) => targetOf.get(trade.pair) === token),
      now,
      ofPair(mainPairOf(token)),
    )
  return {
    now,
    pairs: new Map(existing.map(([name]) => [name, windowsOf(ofPair(name), now)])),
    tokens: new Map([...new Set(targetOf.values())].map((token) => [token, tokenWindows(token)])),
  }
}
