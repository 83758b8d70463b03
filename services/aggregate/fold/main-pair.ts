/** Chooses a token's main pair, the source of its price. */
import { DEEP_TVL_USD, MAIN_PAIR_HOPS, MAIN_PAIR_LEAD, RANK } from '../../core/domain/money.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { pricedBy, TOKEN } from '../state/tokens.js'

const MAX_ROUNDS = 4
const MAIN = pricedBy('main')

type Candidate = { pair: number; deep: boolean; measure: number }

/** Re-ranks the tokens until nothing changes: one token's main pair may make another's possible. */
export function rankMainPairs(state: FoldState, tokens: readonly number[]): void {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let changed = false
    for (const token of tokens) changed = rankMainPair(state, token) || changed
    if (!changed) return
  }
}

function rankMainPair(state: FoldState, token: number): boolean {
  const current = state.tokens.rows.get(token, TOKEN.mainPair)
  const pairs = state.tokens.pairsOf(token).filter((pair) => qualifies(state, pair))
  const best = bestOf(state, pairs)
  const next = best === null ? -1 : pairs.includes(current) ? holdOrSwitch(state, current, best) : best.pair
  if (next === current) return false
  setMainPair(state, token, next)
  return true
}

function holdOrSwitch(state: FoldState, current: number, best: Candidate): number {
  if (best.pair === current) return current
  const held = measure(state, current, isDeep(state, current))
  if (best.deep !== held.deep) return best.pair
  return best.measure > MAIN_PAIR_LEAD * held.measure ? best.pair : current
}

export function setMainPair(state: FoldState, token: number, pair: number): void {
  state.touchToken(token)
  const { rows } = state.tokens
  rows.set(token, TOKEN.mainPair, pair)
  followMainPair(state, token, pair)
}

/** A token without a reference price takes its main pair's; a main pair without one does not change the price. */
export function followMainPair(state: FoldState, token: number, pair: number): void {
  const { rows } = state.tokens
  const rank = rows.get(token, TOKEN.rank)
  if (rank > RANK.major || pair < 0) return
  const price = state.pairs.rows.get(pair, PAIR.priceUsd)
  if (Number.isNaN(price)) return
  state.touchToken(token)
  rows.set(token, TOKEN.priceUsd, price)
  const native = state.pairs.rows.get(pair, PAIR.priceNative)
  if (!Number.isNaN(native)) rows.set(token, TOKEN.priceNative, native)
  rows.set(token, TOKEN.pricedBy, MAIN)
  rows.set(token, TOKEN.pricePool, pair)
}

/** The quote is ranked, or its chain of main pairs reaches a ranked token without passing the target. */
export function qualifies(state: FoldState, pair: number): boolean {
  const target = state.pairs.targetToken(pair)
  if (isAbandonedCurve(state, target, pair)) return false
  let at = state.pairs.quoteToken(pair)
  for (let hop = 0; hop <= MAIN_PAIR_HOPS; hop += 1) {
    if (at === target) return false
    if (state.tokens.rows.get(at, TOKEN.rank) > RANK.none) return true
    const main = state.tokens.rows.get(at, TOKEN.mainPair)
    if (main < 0) return false
    at = state.pairs.quoteToken(main)
  }
  return false
}

function isAbandonedCurve(state: FoldState, token: number, pair: number): boolean {
  const launch = state.tokens.text[token]?.launch
  if (launch?.stage !== 'graduated' || launch.pool === null || launch.pool === launch.curvePool) return false
  return launch.curvePool !== null && state.pairs.address[pair] === launch.curvePool
}

/** Deep pairs by TVL before the others by 24 h volume; equal: the one seen first. */
function bestOf(state: FoldState, pairs: readonly number[]): Candidate | null {
  let best: Candidate | null = null
  const anyDeep = pairs.some((pair) => isDeep(state, pair))
  for (const pair of pairs) {
    if (isDeep(state, pair) !== anyDeep) continue
    const candidate = measure(state, pair, anyDeep)
    if (best === null || candidate.measure > best.measure) best = candidate
  }
  return best
}

function isDeep(state: FoldState, pair: number): boolean {
  return state.pairs.rows.get(pair, PAIR.tvlUsd) >= DEEP_TVL_USD
}

function measure(state: FoldState, pair: number, deep: boolean): Candidate {
  if (deep) return { pair, deep, measure: state.pairs.rows.get(pair, PAIR.tvlUsd) }
  return { pair, deep, measure: state.pairs.active[pair]?.windows.dayVolume(state.nowS) ?? 0 }
}
