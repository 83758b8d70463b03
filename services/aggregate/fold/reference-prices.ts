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
  const pools: PricedPool[] = []
  let deepest: PricedPool | undefined
  let deepestTvl = Number.NEGATIVE_INFINITY
  for (const pair of state.tokens.pairsOf(token)) {
    const price = pairRows.get(pair, PAIR.priceUsd)
    const tvl = pairRows.get(pair, PAIR.tvlUsd)
    const fresh = pairRows.get(pair, PAIR.newestTradeAtS) > state.nowS - REFERENCE_FRESH_S
    if (Number.isNaN(price) || !(tvl >= DEEP_TVL_USD) || !fresh) continue
    if (rows.get(state.pairs.quoteToken(pair), TOKEN.rank) <= rank) continue
    const pool = { price, pool: pair, pool2: NO_POOL }
    pools.push(pool)
    if (tvl > deepestTvl) {
      deepestTvl = tvl
      deepest = pool
    }
  }
  if (pools.length >= 3) return set(state, token, median(pools), MEDIAN, true)
  if (deepest !== undefined) return set(state, token, deepest, DEEPEST, true)
  const [pool, pool2] = [rows.get(token, TOKEN.pricePool), rows.get(token, TOKEN.pricePool2)]
  const found = rows.get(token, TOKEN.found)
  if (!Number.isNaN(found)) return set(state, token, { price: found, pool, pool2 }, LAST, true)
  if (rank === RANK.stable) return set(state, token, { price: 1, pool: NO_POOL, pool2: NO_POOL }, PEG, false)
  const any = { price: rows.get(token, TOKEN.anyPrice), pool: rows.get(token, TOKEN.anyPool), pool2: NO_POOL }
  set(state, token, any, ANY, false)
}

const NO_POOL = -1

/** A price and the pools it came from. */
type PricedPool = { price: number; pool: number; pool2: number }

function set(state: FoldState, token: number, { price, pool, pool2 }: PricedPool, how: number, found: boolean): void {
  const { rows } = state.tokens
  const isSamePrice = Object.is(rows.get(token, TOKEN.priceUsd), price) && rows.get(token, TOKEN.pricedBy) === how
  const arePoolsSame = rows.get(token, TOKEN.pricePool) === pool && rows.get(token, TOKEN.pricePool2) === pool2
  if (isSamePrice && arePoolsSame) return
  state.touchToken(token)
  rows.set(token, TOKEN.priceUsd, price)
  rows.set(token, TOKEN.pricedBy, how)
  rows.set(token, TOKEN.pricePool, pool)
  rows.set(token, TOKEN.pricePool2, pool2)
  if (found) rows.set(token, TOKEN.found, price)
}

function median(pools: PricedPool[]): PricedPool {
  pools.sort((a, b) => a.price - b.price)
  const middle = pools.length >> 1
  const upper = pools[middle] as PricedPool
  if (pools.length % 2 === 1) return upper
  const lower = pools[middle - 1] as PricedPool
  return { price: (lower.price + upper.price) / 2, pool: lower.pool, pool2: upper.pool }
}
