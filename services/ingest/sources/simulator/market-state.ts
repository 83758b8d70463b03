/** A market between two blocks: plain data, so that it can be copied for a fork and stored for a restart. */
import { powerOfTen } from '../../../core/domain/money.js'
import type { CurveReserves, CurveTerms } from './pool-arithmetic.js'

export type Token = {
  address: string
  symbol: string
  name: string
  decimals: number
  supply: bigint
  /** Its fair price, which pools follow. */
  fairUsd: number
  /** The price that the fair price returns to over days. */
  homeUsd: number
  /** Of the fair price, per square root of a second. */
  volatility: number
  /** How strongly it follows the native coin. */
  beta: number
  /** Raised by shocks, then decays: volatility comes in clusters. */
  heat: number
  /** By wallet slot, without pools. Never 0. */
  balances: Map<number, bigint>
}

export type Pool = {
  address: string
  amm: string
  /** The router contract of its swaps. */
  router: string
  feeBps: bigint
  base: Token
  quote: Token
  baseIs0: boolean
  baseReserve: bigint
  quoteReserve: bigint
  /** The balances published last (stored keys). */
  toldBase: bigint
  toldQuote: bigint
  /** How often it trades, relative to others. */
  weight: number
  /** Volume, independent of the number of swaps. */
  usdPerS: number
  /** √(base × quote) that liquidity returns to. */
  homeDepth: number
  /** The wallet slot that provides the liquidity. */
  provider: number
  /** Of the same two tokens. */
  siblings: Pool[]
  /** On a launch curve: virtual reserves, and tokens reserved for the pool it graduates to. */
  curve: (CurveReserves & { keptBack: bigint }) | null
}

export type Launch = {
  token: Token
  pool: Pool
  terms: CurveTerms
  /** The progress at which interest ends; above 1: it graduates. */
  fate: number
  toldProgress: number
  /** Trades since interest ended. */
  fading: number
}

export type MarketState = {
  /** The next slot's height and time. */
  number: number
  nextMs: number
  /** Seconds since the slot before. */
  stepS: number
  head: { number: number; hash: string }
  /** Numbers of the last published blocks, oldest first. */
  recent: number[]
  finalized: number
  /** By wallet slot: the serial number of its address. */
  wallets: number[]
  nextWallet: number
  nextToken: number
  nextPool: number
  native: Token
  anchor: Token
  tokens: Token[]
  /** Constant-product pools, the flagship first. */
  pools: Pool[]
  /** Running sums of their weights. */
  weights: number[]
  launches: Launch[]
  graduates: Pool[]
  /** Its two pools overtake one another. */
  rivals: { first: Pool; second: Pool; movedMs: number; restMs: number }
  /** Nearly empty: one swap distorts its price. */
  hollow: Pool
  /** A temporary pool next to an existing one. */
  guest: Pool | null
  flagshipSwapMs: number
  flagshipLiquidityMs: number
  launchedMs: number
  /** Pools that also trade throughout a thin history, and whose turn it is. */
  leaders: Pool[]
  turn: number
  /** Whether the pools' balances were reported at the end of history; from then on every block reports them. */
  isCaughtUp: boolean
  forks: number
  /** Blocks up to this height repeat an orphaned one's trades. */
  repeatsTo: number
  fork: { stays: MarketState; left: number } | null
}

/** Wallet slots: the first few have special roles, the next are permanent, the rest are replaced over time. */
export const SLOT = {
  exchange: 0,
  arbitrage: 1,
  fees: 2,
  burn: 3,
  firstTrader: 4,
  firstPassing: 300,
  end: 3000,
} as const

export const FINALITY_BLOCKS = 12

export function newToken(
  facts: Pick<Token, 'address' | 'symbol' | 'name' | 'decimals' | 'supply'>,
  usd: number,
): Token {
  return { ...facts, fairUsd: usd, homeUsd: usd, volatility: 0, beta: 0, heat: 0, balances: new Map() }
}

/** A pool's initial fields. All others start empty. */
type PoolFacts = Pick<
  Pool,
  'address' | 'amm' | 'router' | 'feeBps' | 'base' | 'quote' | 'baseIs0' | 'baseReserve' | 'quoteReserve' | 'provider'
>

export function newPool(facts: PoolFacts & Partial<Pool>): Pool {
  const untold = { toldBase: 0n, toldQuote: 0n, weight: 0, usdPerS: 0, homeDepth: 0 }
  return { ...untold, siblings: [], curve: null, ...facts }
}

export const wholeOf = (token: Token, raw: bigint): number => Number(raw) / powerOfTen(token.decimals)

export const rawOf = (token: Token, whole: number): bigint =>
  whole > 0 ? BigInt(Math.floor(whole * powerOfTen(token.decimals))) : 0n

/** Quote per base, from the reserves. */
export const midOf = (pool: Pool): number =>
  wholeOf(pool.quote, pool.quoteReserve) / wholeOf(pool.base, pool.baseReserve)

export const fairOf = (pool: Pool): number => pool.base.fairUsd / pool.quote.fairUsd

export function depthOf(pool: Pool): number {
  return Math.sqrt(wholeOf(pool.base, pool.baseReserve) * wholeOf(pool.quote, pool.quoteReserve))
}

/** After pools were added or removed. */
export function reweigh(state: MarketState): void {
  let sum = 0
  state.weights = state.pools.map((pool) => {
    sum += pool.weight
    return sum
  })
}

/** A copy of the market. Tokens and pools that several parts share stay shared in the copy. */
export function copyState(state: MarketState): MarketState {
  const tokens = new Map<Token, Token>()
  const pools = new Map<Pool, Pool>()

  function token(old: Token): Token {
    const known = tokens.get(old)
    if (known !== undefined) return known
    const copy = { ...old, balances: new Map(old.balances) }
    tokens.set(old, copy)
    return copy
  }

  function pool(old: Pool): Pool {
    const known = pools.get(old)
    if (known !== undefined) return known
    const curve = old.curve === null ? null : { ...old.curve }
    const copy: Pool = { ...old, base: token(old.base), quote: token(old.quote), curve, siblings: [] }
    pools.set(old, copy)
    copy.siblings = old.siblings.map(pool)
    return copy
  }

  const launch = (old: Launch): Launch => ({ ...old, token: token(old.token), pool: pool(old.pool) })

  return {
    ...state,
    head: { ...state.head },
    recent: [...state.recent],
    wallets: [...state.wallets],
    native: token(state.native),
    anchor: token(state.anchor),
    tokens: state.tokens.map(token),
    pools: state.pools.map(pool),
    weights: [...state.weights],
    launches: state.launches.map(launch),
    graduates: state.graduates.map(pool),
    rivals: { ...state.rivals, first: pool(state.rivals.first), second: pool(state.rivals.second) },
    hollow: pool(state.hollow),
    guest: state.guest === null ? null : pool(state.guest),
    leaders: state.leaders.map(pool),
    fork: state.fork === null ? null : { ...state.fork, stays: copyState(state.fork.stays) },
  }
}
