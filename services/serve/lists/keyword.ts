import { normalAddress } from '../../core/domain/chains.js'
import type { TokenState } from '../memory/served-chain.js'
import type { Market } from '../views/market-facts.js'
import { byMeasure, createShortlist, type Ranked, type TokenMeasure } from '../views/ranking.js'

const EXACT = 0
const PREFIX = 1
const INSIDE = 2
const NO_MATCH = 3

type Found = Ranked & { match: number }

/**
 * Tokens by symbol, name or address, by measure. Where there are more than the limit, exact matches are chosen before
 * beginnings, and those before what has the keyword inside.
 */
export function findTokens(
  markets: readonly Market[],
  keyword: string,
  measureOf: TokenMeasure,
  limit: number,
): Ranked[] {
  const found = createShortlist<Found>(limit, (a, b) => a.match - b.match || byMeasure(a, b))
  // A pattern finds a text in any case quicker than lower-case copies of all names would.
  const pattern = new RegExp(keyword.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu')
  for (const market of markets) {
    const address = normalAddress(market.facts?.family ?? 'evm', keyword)
    for (const token of market.state.tokens.values()) {
      const match = matchOf(token, pattern, keyword.length, address)
      if (match !== NO_MATCH) found.offer({ market, token, match, measure: measureOf(market, token) })
    }
  }
  return found.items().sort(byMeasure)
}

function matchOf({ token, info }: TokenState, pattern: RegExp, length: number, address: string): number {
  const byAddress = placeOf(token.indexOf(address), length, token)
  if (byAddress === EXACT) return EXACT
  return Math.min(byAddress, matchText(info.symbol, pattern, length), matchText(info.name, pattern, length))
}

function matchText(text: string | null, pattern: RegExp, length: number): number {
  return text === null ? NO_MATCH : placeOf(text.search(pattern), length, text)
}

function placeOf(at: number, length: number, text: string): number {
  if (at < 0) return NO_MATCH
  if (at > 0) return INSIDE
  return text.length === length ? EXACT : PREFIX
}
