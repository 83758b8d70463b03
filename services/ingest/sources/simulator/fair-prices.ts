/** Fair prices walk at random, with turbulence in clusters and a slow pull home. */

import type { MarketState } from './market-state.js'
import type { Random } from './random.js'

const COOLS_S = 1800
const SHOCK_EVERY_S = 5400
const PULL_S = 5 * 86_400
const LARGEST_STEP = 0.2

export function moveFairPrices(state: MarketState, random: Random): void {
  const { stepS, native } = state
  const root = Math.sqrt(stepS)
  const cooling = 1 - Math.min(1, stepS / COOLS_S)
  const marketMove = native.volatility * (0.7 + native.heat) * root * random.bell()
  for (const token of state.tokens) {
    // Neither the anchor nor what a launch curve prices walks.
    if (token.volatility === 0) continue
    token.heat *= cooling
    if (random.chance(stepS / SHOCK_EVERY_S)) token.heat += 0.5 + 2 * random.next()
    const own = token.volatility * (0.7 + token.heat) * root * random.bell()
    const pull = (stepS / PULL_S) * Math.max(-1, Math.min(1, token.homeUsd / token.fairUsd - 1))
    const step = (token === native ? marketMove : own + token.beta * marketMove) + pull
    token.fairUsd *= 1 + Math.max(-LARGEST_STEP, Math.min(LARGEST_STEP, step))
  }
}
