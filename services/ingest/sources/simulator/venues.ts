/** Parameters of each simulated chain: block time, share of the trading, exchanges and launch platform. */
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
