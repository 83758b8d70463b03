/** USD prices of native and stables, from their pools against better ranked tokens. */
import { DEEP_TVL_USD, RANK, REFERENCE_FRESH_S } from '../../core/domain/money.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { pricedBy, TOKEN } from '../state/tokens.js'

const ANCHOR = pricedBy('anchor')
const PEG = pricedBy('peg')
const MEDIAN = pricedBy('median')
const DEEPEST = pricedBy('deepest')
const LAST = pricedBy('last')
const ANY = pricedBy('any')

export function hasReferencePrice(rank: number): boolean {
  return rank === RANK.native || rank === RANK.stable
}

/** Tokens priced by rank alone (anchor, stables) get that price when first seen. */
export function firstPrice(state: FoldState, token: number): void {
  const { rows } = state.tokens
  const rank = rows.get(token, TOKEN.rank)
  if (rank === RANK.anchor || rank === RANK.stable) {
    rows.set(token, TOKEN.priceUsd, 1)
    rows.set(token, TOKEN.pricedBy, rank === RANK.anchor ? ANCHOR : PEG)
  }
}

/** True for a pool that can price its target. */
export function isReferencePool(state: FoldState, pair: number): boolean {
  const targetRank = state.tokens.rows.get(state.pairs.targetToken(pair), TOKEN.rank)
  return hasReferencePrice(targetRank) && state.tokens.rows.get(state.pairs.quoteToken(pair), TOKEN.rank) > targetRank
}

/** Recomputes all reference prices: at a block's start and end. */
export function findReferencePrices(state: FoldState): void {
  const { native, stables } = state.facts
  if (native !== undefined) findByAddress(state, native)
  for (const stable of stables) findByAddress(state, stable)
}

function findByAddress(state: FoldState, address: string): void {
  const token = state.tokens.find(address)
  if (token !== undefined) findReferencePrice(state, token)
}

export function findReferencePrice(state: FoldState, token: number): void {
  const { rows } = state.tokens
  const { rows: pairRows } = state.pairs
  const rank = rows.get(token, TOKEN.rank)
  if (!hasReferencePrice(rank)) return
  const prices: number[] = []
  let deepest = Number.NaN
  let deepestTvl = Number.NEGATIVE_INFINITY
  for (const pair of state.tokens.pairsOf(token)) {
    const price = pairRows.get(pair, PAIR.priceUsd)
    const tvl = pairRows.get(pair, PAIR.tvlUsd)
    const fresh = pairRows.get(pair, PAIR.newestTradeAtS) > state.nowS - REFERENCE_FRESH_S
    if (Number.isNaN(price) || !(tvl >= DEEP_TVL_USD) || !fresh) continue
    if (rows.get(state.pairs.quoteToken(pair), TOKEN.rank) <= rank) continue
    prices.push(price)
    if (tvl > deepestTvl) {
      deepestTvl = tvl
      deepest = price
    }
  }
  if (prices.length >= 3) set(state, token, median(prices), MEDIAN, true)
  else if (prices.length > 0) set(state, token, deepest, DEEPEST, true)
  else if (!Number.isNaN(rows.get(token, TOKEN.found))) set(state, token, rows.get(token, TOKEN.found), LAST, true)
  else if (rank === RANK.stable) set(state, token, 1, PEG, false)
  else set(state, token, rows.get(token, TOKEN.anyPrice), ANY, false)
}

function set(state: FoldState, token: number, price: number, how: number, found: boolean): void {
  const { rows } = state.tokens
  const samePrice = Object.is(rows.get(token, TOKEN.priceUsd), price)
  if (samePrice && rows.get(token, TOKEN.pricedBy) === how) return
  state.touchToken(token)
  rows.set(token, TOKEN.priceUsd, price)
  rows.set(token, TOKEN.pricedBy, how)
  if (found) rows.set(token, TOKEN.found, price)
}

function median(prices: number[]): number {
  prices.sort((a, b) => a - b)
  const middle = prices.length >> 1
  const upper = prices[middle] as number
  return prices.length % 2 === 1 ? upper : ((prices[middle - 1] as number) + upper) / 2
}
