/** A market between two blocks: plain data, so that it can be copied for a fork and kept for a restart. */
import { powerOfTen } from '../../../core/domain/money.js'
import type { CurveReserves, CurveTerms } from './pool-arithmetic.js'

export type Token = {
  address: string
  symbol: string
  name: string
  decimals: number
  supply: bigint
  /** What the market thinks it is worth; pools follow. */
  fairUsd: number
  /** Where the fair price is drawn back to, over days. */
  homeUsd: number
  /** Of the fair price, for the square root of a second. */
  volatility: number
  /** How much of the native coin's moves it takes part in. */
  beta: number
  /** Raised by shocks, cools down: turbulence comes in clusters. */
  heat: number
  /** By wallet slot; pools' are their reserves. None is 0. */
  balances: Map<number, bigint>
}

export type Pool = {
  address: string
  amm: string
  /** The contract that swaps are sent through. */
  router: string
  feeBps: bigint
  base: Token
  quote: Token
  baseIs0: boolean
  baseReserve: bigint
  quoteReserve: bigint
  /** What was last told that it holds. */
  toldBase: bigint
  toldQuote: bigint
  /** How often it is traded, against the others. */
  weight: number
  /** What is traded in it, whatever the number of swaps that takes. */
  usdPerS: number
  /** √(base × quote) that liquidity comes back to. */
  homeDepth: number
  /** The wallet slot that provides the liquidity. */
  provider: number
  /** Of the same two tokens. */
  siblings: Pool[]
  /** On a launch curve: its virtual reserves, and what it keeps for the pool it graduates to. */
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
  /** Numbers of the last blocks given, oldest first. */
  recent: number[]
  finalized: number
  /** By wallet slot: the serial number that its address is spelled from. */
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
  /** Nearly empty: one swap throws its price. */
  hollow: Pool
  /** A pool opened beside an existing one for a while. */
  guest: Pool | null
  flagshipSwapMs: number
  flagshipLiquidityMs: number
  launchedMs: number
  /** Pools that trade throughout a thin history too, and whose turn it is. */
  leaders: Pool[]
  turn: number
  /** What pools hold was told where history ended; from then on it is with every block. */
  isCaughtUp: boolean
  forks: number
  /** Blocks up to this height repeat an orphaned one's trades. */
  repeatsTo: number
  fork: { stays: MarketState; left: number } | null
}

/** Wallet slots: the first few have a part of their own, the next are never given up, the rest come and go. */
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

/** What a pool has from the first. The rest begins at nothing: not told, not traded, alone. */
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

/** Quote per base, of what the pool holds. */
export const midOf = (pool: Pool): number =>
  wholeOf(pool.quote, pool.quoteReserve) / wholeOf(pool.base, pool.baseReserve)

export const fairOf = (pool: Pool): number => pool.base.fairUsd / pool.quote.fairUsd

export function depthOf(pool: Pool): number {
  return Math.sqrt(wholeOf(pool.base, pool.baseReserve) * wholeOf(pool.quote, pool.quoteReserve))
}

/** After pools came or went. */
export function reweigh(state: MarketState): void {
  let sum = 0
  state.weights = state.pools.map((pool) => {
    sum += pool.weight
    return sum
  })
}

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
