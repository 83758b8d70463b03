import type { ChainFacts, ChainFamily } from '../../core/domain/chains.js'
import type { TokenInfo } from '../../core/domain/records.js'
import {
  type PairState,
  quoteToken,
  type ServedChain,
  type TokenState,
  targetToken,
  UNKNOWN_TOKEN,
} from '../memory/served-chain.js'
import { rawToNumber } from './field-formats.js'
import { locksOf } from './lock-view.js'

/** A chain's state and its configured facts: the input of every view. */
export type Market = {
  state: ServedChain
  facts: ChainFacts | undefined
  /** Undefined: the chain is known from a recording only, so its family is not known. */
  family?: ChainFamily | undefined
  /** Exchanges decoded when the chain is read from nodes. */
  amms: readonly string[]
}

const DAY_S = 86_400

export function tokenInfo(market: Market, token: string) {
  return market.state.tokens.get(token)?.info ?? UNKNOWN_TOKEN
}

export function targetOf(pair: PairState): string {
  return targetToken(pair.info)
}

export function quoteOf(pair: PairState): string {
  return quoteToken(pair.info)
}

/** Prices of one of the pair's two tokens in this pair. */
export function sidePrices(market: Market, pair: PairState, token: string): { usd: number; native: number } {
  if (token === targetOf(pair)) return { usd: pair.price_usd, native: pair.price_native }
  // The quote's current price: the pair's last update may be older.
  const quote = market.state.tokens.get(token)
  if (quote === undefined) return { usd: pair.quote_usd, native: Number.NaN }
  return { usd: tokenPriceUsd(market, quote), native: tokenPriceNative(market, quote) }
}

export function tokenPriceUsd(market: Market, token: TokenState): number {
  return token.token === market.facts?.anchor ? 1 : token.price_usd
}

/** In native coins. For anchor and stables it follows the native coin's price, so updates do not carry it. */
export function tokenPriceNative(market: Market, token: TokenState): number {
  const { facts, state } = market
  if (token.token === facts?.native) return 1
  const isCash = token.token === facts?.anchor || facts?.stables.includes(token.token)
  if (!isCash || facts?.native === undefined) return token.price_native
  return tokenPriceUsd(market, token) / (state.tokens.get(facts.native)?.price_usd ?? Number.NaN)
}

/** Base price of today's change. A pair without updates since midnight has not changed today. */
export function dayPrice(market: { state: Pick<ServedChain, 'nowS'> }, pair: PairState): number {
  const today = Math.floor(market.state.nowS / DAY_S)
  return Math.floor(pair.seen_at / DAY_S) < today ? pair.price_usd : pair.price_day_usd
}

/** Whether no block can change what happened before this time. A block's own time may lie behind, by an hour if not configured. */
export function isFinal({ recent }: Pick<ServedChain, 'recent'>, timeS: number): boolean {
  return timeS < recent.finalNowS - DAY_S
}

/** Until when every block is final; a later block of a chain known from a recording may have an earlier time. */
export function finalUntilS({ state, family }: Pick<Market, 'state' | 'family'>): number {
  return state.recent.finalNowS - (family === undefined ? TIME_BACK_S : 0)
}

const TIME_BACK_S = 3600

export function mainPairOf(market: Market, token: TokenState): PairState | undefined {
  return token.main_pair === null ? undefined : market.state.pairs.get(token.main_pair)
}

/** Total supply with decimals applied; NaN if unknown. */
export function supplyOf(market: Market, token: string): number {
  const { total_supply, decimals } = tokenInfo(market, token)
  return rawToNumber(total_supply, decimals)
}

/** Supply minus burnt tokens, decimals applied; NaN if unknown. */
export function supplyLeft(token: TokenState): number {
  const { total_supply, decimals } = token.info
  const burnt = burntRaw(token)
  if (total_supply === null || burnt === null) return rawToNumber(total_supply, decimals)
  const leftRaw = BigInt(total_supply) - BigInt(burnt)
  return rawToNumber(leftRaw > 0n ? leftRaw.toString() : '0', decimals)
}

/** The same without what lockers hold. */
export function supplyInMarket(token: TokenState): number {
  const left = supplyLeft(token)
  const { lockedRaw } = locksOf(token.info)
  return lockedRaw === null ? left : Math.max(0, left - rawToNumber(lockedRaw, token.info.decimals))
}

/** Balance of the burn addresses: from its transfers, or as of the last check of the token. Null: unknown. */
export function burntRaw({ info, holders }: TokenState): string | null {
  return info.burnt_supply ?? (holders > 0 ? '0' : locksOf(info).burntRaw)
}

/** How many balances are above 0. Null: unknown, since no balance of the token was ever seen. */
export function knownHolders({ holders }: TokenState): number | null {
  return holders > 0 ? holders : null
}

/** Launch tag of a pair: `<platform>_king` once graduated. */
export function launchTag(market: Market, token: string): string {
  return launchTagOf(tokenInfo(market, token))
}

export function launchTagOf({ launch_platform, launch_stage }: TokenInfo): string {
  return launch_platform !== null && launch_stage === 'graduated' ? `${launch_platform}_king` : ''
}

type FirstIndexed = { epoch: number; seq: number; firstS: number }
const firstIndexed = new WeakMap<ServedChain, FirstIndexed>()

/** Chain time of the first indexed token; a scan of all tokens, once per update. */
export function firstIndexedS({ state }: Market): number {
  const { epoch, seq } = state
  const known = firstIndexed.get(state)
  if (known?.epoch === epoch && known.seq === seq) return known.firstS
  let first = state.nowS
  for (const { info } of state.tokens.values()) {
    if (info.created_at > 0 && info.created_at < first) first = info.created_at
  }
  firstIndexed.set(state, { epoch, seq, firstS: first })
  return first
}

/** Addresses of the chain's money: native coin, anchor and stables. */
export function moneyOf({ facts }: Pick<Market, 'facts'>): string[] {
  const { native, anchor, stables = [] } = facts ?? {}
  return [native, anchor, ...stables].flatMap((token) => token ?? [])
}
