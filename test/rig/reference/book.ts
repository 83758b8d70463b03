/** The memory of the recomputation while it walks the events: lists of plain objects, nothing derived. */
import { type ChainFacts, normalAddress } from '../../../services/core/domain/chains.js'
import type { LiquidityKind } from '../../../services/core/domain/records.js'

export const FLAG_DUST = 1
export const FLAG_OUTLIER = 2
export const FLAG_UNPRICED = 4

export type ReferenceTrade = {
  pair: string
  block_number: number
  time: number
  tx_index: number
  log_index: number
  sub: number
  tx_hash: string
  id: string
  tx_seq: number
  sell: boolean
  sender: string
  recipient: string
  wallet: string
  amount_in: string
  amount_out: string
  reserve0: string | null
  reserve1: string | null
  price_usd: number
  price_native: number
  price_quote: number
  quote_usd: number
  quote_native: number
  amount_usd: number
  amount_native: number
  flags: number
  /** How the quote got its price, and the pools it came from. */
  quote_path: string
  /** Not in a published trade: the amounts, scaled by the decimals known at the trade. */
  target_amount: number
  quote_amount: number
}

export type ReferenceLiquidity = {
  pair: string
  block_number: number
  id: string
  kind: LiquidityKind
  wallet: string
  reserve0: string | null
  reserve1: string | null
  price0_usd: number
  price1_usd: number
}

export type Pool = {
  pool: string
  amm: string
  token0: string
  token1: string
  targetIsToken0: boolean
  target: string
  quote: string
  fee: number | null
  creator: string | null
  createdAt: number
  createdBlock: number
  reserve0: string | null
  reserve1: string | null
  /** The last known values; the mid price before an event is computed from these. */
  knownSqrtPrice: string | null
  knownReserves: { reserve0: string; reserve1: string } | null
  initReserves: { reserve0: string | null; reserve1: string | null } | null
  usd: number
  native: number
  quotePrice: number
  tvl: number
  liquidityUsd: number
  liquidityNative: number
  /** Its first liquidity came before any trade. */
  isCreated: boolean
  trades: ReferenceTrade[]
}

export type Token = {
  token: string
  name: string | null
  symbol: string | null
  decimals: number | null
  totalSupply: string | null
  mainPair: Pool | null
  usd: number
  native: number
  /** The pool of its price, if a main pair gave it. */
  pricePool: string | null
  launchStage: string | null
  curvePools: Set<string>
  graduatedTo: string | null
}

export type ReferenceHour = {
  priceUsd: number
  tvlUsd: number
  liquidityUsd: number
  supply: number
  supplyLeft: number
}

export type MainPairChange = { block: number; token: string; old_pair: string | null; new_pair: string | null }

export type Dead = { block: number; position: string; reason: 'pool_unknown' | 'pool_mismatch' }

/** Where a token's decimals became known, in event order. */
export type Position = { block_number: number; tx_index: number; log_index: number; sub: number }

export type Book = {
  facts: ChainFacts
  now: number
  block: number
  blockTime: number
  pools: Map<string, Pool>
  tokens: Map<string, Token>
  trades: ReferenceTrade[]
  liquidity: ReferenceLiquidity[]
  holders: Map<string, bigint>
  /** Pools named by a graduation before they were described, with their tokens. */
  awaited: Map<string, string>
  /** Current prices of stables and native, and the last ones found in live reference pools. */
  currentReference: Map<string, number>
  foundReference: Map<string, number>
  /** How their current prices were found, and in which pools. */
  referencePath: Map<string, string>
  /** Each pair at the end of each hour it had events in, keyed `pair|hour`. */
  pairHours: Map<string, ReferenceHour>
  /** Holders at the end of each hour in which their number changed, keyed `token|hour`. */
  holderHours: Map<string, number>
  mainPairSteps: MainPairChange[]
  decimalsSince: Map<string, Position>
  dead: Dead[]
}

export function newBook(facts: ChainFacts): Book {
  const one = (address: string): string => normalAddress(facts.family, address)
  const { anchor, native, stables, majors, ...rest } = facts
  return {
    facts: {
      ...rest,
      stables: stables.map(one),
      majors: majors.map(one),
      ...(anchor === undefined ? {} : { anchor: one(anchor) }),
      ...(native === undefined ? {} : { native: one(native) }),
    },
    now: Number.NEGATIVE_INFINITY,
    block: -1,
    blockTime: 0,
    pools: new Map(),
    tokens: new Map(),
    trades: [],
    liquidity: [],
    holders: new Map(),
    awaited: new Map(),
    currentReference: new Map(),
    foundReference: new Map(),
    referencePath: new Map(),
    pairHours: new Map(),
    holderHours: new Map(),
    mainPairSteps: [],
    decimalsSince: new Map(),
    dead: [],
  }
}

export function tokenOf(book: Book, token: string): Token {
  const known = book.tokens.get(token)
  if (known !== undefined) return known
  const fresh: Token = {
    token,
    ...{ name: null, symbol: null, decimals: null, totalSupply: null },
    ...{ mainPair: null, usd: Number.NaN, native: Number.NaN, pricePool: null },
    ...{ launchStage: null, curvePools: new Set<string>(), graduatedTo: null },
  }
  book.tokens.set(token, fresh)
  return fresh
}

export const decimalsOf = (book: Book, token: string): number | null => book.tokens.get(token)?.decimals ?? null

/** Quote and target reserve, scaled by the decimals known now. */
export function sidesOf(book: Book, pool: Pool) {
  const { targetIsToken0, token0, token1 } = pool
  return { targetIsToken0, decimals0: decimalsOf(book, token0), decimals1: decimalsOf(book, token1) }
}

export const isGood = (trade: ReferenceTrade): boolean => trade.flags === 0
