/** TVL of the pools a block touched, at the prices at its end. */
import { powerOfTen, RANK } from '../../core/domain/money.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { TOKEN } from '../state/tokens.js'
import { nativePrice } from './value-swap.js'

/** Main pairs cannot form a cycle; the limit ends the walk in any case. */
const MAX_WALK = 32

/** Pools nearer to a ranked token come first: a quote's main pair is valued before the pools that depend on it. */
export function updateTvl(state: FoldState, pairs: readonly number[]): void {
  const byHops = pairs.map((pair) => ({ pair, hops: hopsToRanked(state, state.pairs.quoteToken(pair)) }))
  byHops.sort((a, b) => a.hops - b.hops || a.pair - b.pair)
  for (const { pair } of byHops) {
    state.touchPair(pair)
    setTvl(state, pair)
  }
}

/** Steps along main pairs from a token to a ranked one; 0 when it is ranked itself. */
export function hopsToRanked(state: FoldState, token: number): number {
  let at = token
  for (let hops = 0; hops < MAX_WALK; hops += 1) {
    if (state.tokens.rows.get(at, TOKEN.rank) > RANK.none) return hops
    const main = state.tokens.rows.get(at, TOKEN.mainPair)
    if (main < 0) return MAX_WALK
    at = state.pairs.quoteToken(main)
  }
  return MAX_WALK
}

function setTvl(state: FoldState, pair: number): void {
  const { rows } = state.pairs
  const tokens = state.tokens.rows
  const target = state.pairs.targetToken(pair)
  const quote = state.pairs.quoteToken(pair)
  const targetIs0 = rows.get(pair, PAIR.target) === 0
  const quoteRaw = rows.get(pair, targetIs0 ? PAIR.reserve1 : PAIR.reserve0)
  const targetRaw = rows.get(pair, targetIs0 ? PAIR.reserve0 : PAIR.reserve1)
  const quoteAmount = quoteRaw / powerOfTen(tokens.get(quote, TOKEN.decimals))
  const quoteUsd = tokens.get(quote, TOKEN.priceUsd)
  const quoteSide = quoteAmount * quoteUsd
  rows.set(pair, PAIR.quoteUsd, quoteUsd)
  rows.set(pair, PAIR.liquidityUsd, quoteSide)
  const isNative = tokens.get(quote, TOKEN.rank) === RANK.native
  rows.set(pair, PAIR.liquidityNative, isNative ? quoteAmount : quoteSide / nativePrice(state))
  const counted = Math.min(quoteSide, quoteCap(state, quote))
  const price = rows.get(pair, PAIR.priceUsd)
  const targetSide = (targetRaw / powerOfTen(tokens.get(target, TOKEN.decimals))) * price
  const untraded = Number.isNaN(price) && !Number.isNaN(targetRaw)
  rows.set(pair, PAIR.tvlUsd, untraded ? 2 * counted : counted + Math.min(targetSide, counted))
}

/** A side in an unranked token is worth no more than that token's own main pair. */
function quoteCap(state: FoldState, quote: number): number {
  if (state.tokens.rows.get(quote, TOKEN.rank) > RANK.none) return Number.POSITIVE_INFINITY
  const main = state.tokens.rows.get(quote, TOKEN.mainPair)
  return main < 0 ? Number.NaN : state.pairs.rows.get(main, PAIR.tvlUsd)
}
