/** The market's whole state: plain data, so that a fork point is a structured clone. */
import type { ChainFamily } from '../../../services/core/domain/chains.js'
import type { Random } from './random.js'
import type { BlockWriter } from './writer.js'

export type MarketToken = {
  address: string
  symbol: string
  /** The true value, whether or not it is in the recording. */
  decimals: number
  fairUsd: number
}

/**
 * v2: constant product, reserves recorded. v3: constant product on virtual reserves, a recorded square-root price and reserves
 * that are not in the price's ratio. blind: constant product, nothing recorded.
 */
export type PoolStyle = 'v2' | 'v3' | 'blind'

export type MarketPool = {
  address: string
  amm: string
  style: PoolStyle
  token0: MarketToken
  token1: MarketToken
  reserve0: bigint
  reserve1: bigint
  described: boolean
  /** How often it trades, relative to the others. */
  weight: number
}

export type MarketLaunch = { token: MarketToken; curve: MarketPool; progress: number; graduated: MarketPool | null }

export type World = {
  chain: string
  family: ChainFamily
  seed: number
  number: number
  hash: string
  time: number
  now: number
  /** Canonical blocks so far. */
  height: number
  tokens: Map<string, MarketToken>
  pools: MarketPool[]
  launches: MarketLaunch[]
  /** Tokens whose decimals are not recorded yet. */
  undescribed: MarketToken[]
  balances: Map<string, bigint>
}

export type Stage = { world: World; random: Random; writer: BlockWriter; wallets: readonly string[] }

export type Scene = (stage: Stage) => void

export function findToken(world: World, symbol: string): MarketToken {
  const token = world.tokens.get(symbol)
  if (token === undefined) throw new Error(`no token ${symbol} in this market`)
  return token
}

/** `usd` worth of a token at its fair price, as a raw integer, at least 1. */
export function rawFor(token: MarketToken, usd: number): bigint {
  const millionths = BigInt(Math.max(1, Math.round((usd / token.fairUsd) * 1e6)))
  const raw = (millionths * 10n ** BigInt(token.decimals)) / 1_000_000n
  return raw > 0n ? raw : 1n
}

export const amountOf = (token: MarketToken, raw: bigint): number => Number(raw) / 10 ** token.decimals
