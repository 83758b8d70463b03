import type { TokenState } from '../memory/chain-state.js'
import { dayMakers, dayTrades, dayVolumeUsd, hourVolumeUsd } from '../memory/windows.js'
import type { Market } from '../views/market.js'
import { byText, firstOf } from './first.js'

/** Volume beyond this many times the liquidity is somebody trading with himself. */
const MOST_TURNOVER = 10

type Scored = { token: TokenState; group: number; score: number }
const IN_DEMAND = 0
const LIQUIDITY_UNKNOWN = 1
const MONEY = 2

/** Tokens with trades in 24 hours, the most in demand first: a page of them, and how many there are. */
export function trending(market: Market, page: number, pageSize: number): { tokens: TokenState[]; total: number } {
  const scored = scoredTokens(market)
  const upTo = firstOf(scored, (page + 1) * pageSize, byDemand)
  return { tokens: upTo.slice(page * pageSize).map(({ token }) => token), total: scored.length }
}

function scoredTokens({ state, facts }: Market): Scored[] {
  const money = new Set([facts?.native, facts?.anchor, ...(facts?.stables ?? [])])
  const scored: Scored[] = []
  for (const token of state.tokens.values()) {
    if (dayTrades(token.windows) === 0) continue
    const group = money.has(token.token) ? MONEY : Number.isNaN(token.tvl) ? LIQUIDITY_UNKNOWN : IN_DEMAND
    scored.push({ token, group, score: demand(token) })
  }
  return scored
}

/** A day's volume at the mean of the day's and the last hour's pace, as far as liquidity bears it out, weighed by makers. */
function demand({ windows, tvl }: TokenState): number {
  const paceUsd = (dayVolumeUsd(windows) + 24 * hourVolumeUsd(windows)) / 2
  const borneUsd = Number.isNaN(tvl) ? paceUsd : Math.min(paceUsd, MOST_TURNOVER * tvl)
  return borneUsd * Math.log2(1 + dayMakers(windows))
}

function byDemand(a: Scored, b: Scored): number {
  return a.group - b.group || b.score - a.score || byText(a.token.token, b.token.token)
}
