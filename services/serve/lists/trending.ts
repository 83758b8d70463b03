import type { TokenState } from '../memory/served-chain.js'
import { dayMakers, dayTrades, dayVolumeUsd, hourVolumeUsd } from '../memory/windows.js'
import type { Market } from '../views/market-facts.js'
import { byText, createShortlist } from '../views/ranking.js'

/** Volume beyond this many times the liquidity is somebody trading with himself. */
const MOST_TURNOVER = 10

type Scored = { token: TokenState; group: number; score: number }
const IN_DEMAND = 0
const LIQUIDITY_UNKNOWN = 1
const MONEY = 2

/** Tokens with trades in 24 hours, the most in demand first: a page of them, and how many there are. */
export function trending(
  { state, facts }: Market,
  page: number,
  pageSize: number,
): { tokens: TokenState[]; total: number } {
  const money = new Set([facts?.native, facts?.anchor, ...(facts?.stables ?? [])])
  const listed = createShortlist<Scored>((page + 1) * pageSize, byDemand)
  let total = 0
  for (const token of state.tokens.values()) {
    if (dayTrades(token.windows) === 0) continue
    const group = money.has(token.token) ? MONEY : Number.isNaN(token.tvl) ? LIQUIDITY_UNKNOWN : IN_DEMAND
    listed.offer({ token, group, score: demand(token) })
    total += 1
  }
  const upTo = listed.items()
  return { tokens: upTo.slice(page * pageSize).map(({ token }) => token), total }
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
