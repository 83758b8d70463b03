/** Parameters of each simulated chain: block time, share of the trading, exchanges, launch platform and money tokens. */
import type { ChainFacts } from '../../../core/domain/chains.js'
import { ConfigError } from '../../../core/domain/errors.js'
import { type CurveTerms, FOURMEME, PUMP } from './pool-arithmetic.js'

export type Amm = { name: string; feeBps: bigint }

export type Venue = {
  blockMs: number
  /** Share of all swaps, before it is scaled to the simulated chains. */
  share: number
  /** Height at the epoch, so that a market starts at a plausible height. */
  heightAtEpoch: number
  /** The first two have the main pairs. */
  amms: readonly [Amm, Amm, ...Amm[]]
  curve: CurveTerms | null
  /** Scales the depth of every pool. */
  depth: number
}

const VENUES: Record<string, Venue> = {
  eth: {
    blockMs: 3000,
    share: 0.25,
    heightAtEpoch: -560_000_000,
    amms: [
      { name: 'uniswapv2', feeBps: 30n },
      { name: 'sushiswap', feeBps: 30n },
    ],
    curve: null,
    depth: 1,
  },
  bsc: {
    blockMs: 1000,
    share: 0.3,
    heightAtEpoch: -1_700_000_000,
    amms: [
      { name: 'cakev2', feeBps: 25n },
      { name: 'biswap', feeBps: 20n },
    ],
    curve: FOURMEME,
    depth: 0.6,
  },
  solana: {
    blockMs: 500,
    share: 0.45,
    heightAtEpoch: -3_200_000_000,
    amms: [
      { name: 'raydium', feeBps: 25n },
      { name: 'meteora', feeBps: 20n },
      { name: 'pumpamm', feeBps: 30n },
    ],
    curve: PUMP,
    depth: 0.8,
  },
}

const OTHER_EVM: Venue = {
  blockMs: 2000,
  share: 0.2,
  heightAtEpoch: -840_000_000,
  amms: [
    { name: 'uniswapv2', feeBps: 30n },
    { name: 'sushiswap', feeBps: 30n },
  ],
  curve: null,
  depth: 0.3,
}

export function venueOf({ chain, family }: ChainFacts): Venue {
  return VENUES[chain] ?? (family === 'evm' ? OTHER_EVM : { ...OTHER_EVM, blockMs: 500 })
}

/** A chain's share of the swaps among the simulated chains. */
export function shareOf(chain: ChainFacts, chains: readonly ChainFacts[]): number {
  return venueOf(chain).share / chains.reduce((sum, other) => sum + venueOf(other).share, 0)
}

export function ammOf(venue: Venue, name: string): Amm {
  return venue.amms.find((amm) => amm.name === name) ?? venue.amms[0]
}

/** The money tokens every simulated market needs. */
export function requireMoney(facts: ChainFacts): { native: string; anchor: string } {
  const { chain, native, anchor } = facts
  if (native !== undefined && anchor !== undefined) return { native, anchor }
  throw new ConfigError({
    code: 'simulator_money_missing',
    what: `Cannot simulate the chain ${chain}: it has no ${native === undefined ? 'native' : 'anchor'} token`,
    where: { chain },
    fix: `Set "native" and "anchor" under chains.${chain}, or remove the chain from the simulation.`,
  })
}

/** Of a money token; the configuration has only its address. */
export type MoneyFacts = {
  address: string
  symbol: string
  name: string
  decimals: number
  usd: number
  /** Whole tokens. */
  supply: number
}

type Known = Omit<MoneyFacts, 'address' | 'supply'>

const known = (symbol: string, name: string, decimals: number, usd: number): Known => ({ symbol, name, decimals, usd })

const BY_ADDRESS: Record<string, Known> = {
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': known('USDC', 'USD Coin', 6, 1),
  '0xdac17f958d2ee523a2206206994597c13d831ec7': known('USDT', 'Tether USD', 6, 1),
  '0x6b175474e89094c44da98b954eedeac495271d0f': known('DAI', 'Dai Stablecoin', 18, 1),
  '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2': known('WETH', 'Wrapped Ether', 18, 3100),
  '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599': known('WBTC', 'Wrapped BTC', 8, 96_000),
  '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d': known('USDC', 'USD Coin', 18, 1),
  '0x55d398326f99059ff775485246999027b3197955': known('USDT', 'Tether USD', 18, 1),
  '0xe9e7cea3dedca5984780bafc599bd69add087d56': known('BUSD', 'BUSD Token', 18, 1),
  '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c': known('WBNB', 'Wrapped BNB', 18, 620),
  '0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c': known('BTCB', 'BTCB Token', 18, 96_000),
  '0x2170ed0880ac9a755fd29b2688956bd959f933f8': known('ETH', 'Ethereum Token', 18, 3100),
  EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: known('USDC', 'USD Coin', 6, 1),
  Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB: known('USDT', 'Tether USD', 6, 1),
  So11111111111111111111111111111111111111112: known('SOL', 'Wrapped SOL', 9, 155),
}

/** The supply is worth this much. */
const SUPPLY_USD = 40_000_000_000

export type Money = { native: MoneyFacts; anchor: MoneyFacts; stables: MoneyFacts[]; majors: MoneyFacts[] }

export function moneyOf(facts: ChainFacts): Money {
  const { native, anchor } = requireMoney(facts)
  const evm = facts.family === 'evm'
  const made = (address: string, fallback: Known): MoneyFacts => {
    const token = BY_ADDRESS[address] ?? fallback
    return { address, ...token, supply: Math.round(SUPPLY_USD / token.usd) }
  }
  const coin = facts.chain.toUpperCase()
  return {
    native: made(native, known(`W${coin}`, `Wrapped ${facts.title}`, evm ? 18 : 9, 25)),
    anchor: made(anchor, known('USDC', 'USD Coin', 6, 1)),
    stables: facts.stables.map((address, n) => made(address, known(`USD${n + 2}`, `US Dollar ${n + 2}`, 6, 1))),
    majors: facts.majors.map((address, n) => made(address, known(`MAJOR${n + 1}`, `Major ${n + 1}`, 8, 5000))),
  }
}
