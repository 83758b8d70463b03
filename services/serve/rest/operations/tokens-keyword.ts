import { Type } from '@sinclair/typebox'
import { normalAddress } from '../../../core/domain/chains.js'
import { isShort } from '../../memory/name-buckets.js'
import type { NameIndex } from '../../memory/name-index.js'
import type { TokenState } from '../../memory/served-chain.js'
import type { Market } from '../../views/market-facts.js'
import { isLookalike, knownLookalikes } from '../../views/name-flags.js'
import { byMeasure, createShortlist, type Ranked, TOKEN_MEASURES, type TokenMeasure } from '../../views/ranking.js'
import { tokenFields } from '../../views/token-view.js'
import { operation } from '../operation.js'
import { ChainName, limitOf, resolveChains } from '../parameters.js'
import { badRequest } from '../problem.js'
import { viewTokens } from '../view-tokens.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 300
const MAX_KEYWORD = 128

const EXACT = 0
const PREFIX = 1
const INSIDE = 2
const NO_MATCH = 3

type Found = Ranked & { match: number; isImpostor: boolean }

export const tokensKeyword = operation({
  id: 'tokensKeyword',
  method: 'GET',
  path: '/v2/tokens',
  summary: 'Search tokens by symbol, name or address',
  costCu: 5,
  envelope: false,
  params: Type.Object({}),
  query: Type.Object({
    keyword: Type.String({
      ...{ minLength: 1, maxLength: MAX_KEYWORD, examples: ['WETH'] },
      description:
        'Symbol, name or address, or a part of one; case-insensitive. One or two Latin characters: not of an address',
    }),
    chain: Type.Optional(ChainName),
    limit: limitOf('tokens', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
    orderby: Type.Optional(
      Type.Union(
        [
          Type.Literal('tx_volume_u_24h'),
          Type.Literal('market_cap'),
          Type.Literal('main_pair_tvl'),
          Type.Literal('fdv'),
        ],
        {
          default: 'tx_volume_u_24h',
          description:
            'Sort key, descending. Above the limit, exact matches come first, then prefixes, then other matches',
        },
      ),
    ),
  }),
  data: Type.Array(
    Type.Object({
      ...tokenFields,
      is_fake: Type.Integer({
        description:
          '1: it has the symbol or name of one of the chain’s configured tokens, or what looks like it, and is not it',
      }),
    }),
  ),
  async handle({ chains, launches }, { query }) {
    const keyword = query.keyword.trim()
    if (keyword === '') throw badRequest('query_invalid', '`keyword` must not be blank.')
    const markets = resolveChains(chains, query.chain)
    const measure = TOKEN_MEASURES[query.orderby ?? 'tx_volume_u_24h']
    const found = findTokens(markets, keyword, measure, query.limit ?? DEFAULT_LIMIT)
    const { views: data, isProvisional } = await viewTokens(launches, found, (view, _token, { isImpostor }) => ({
      ...view,
      is_fake: isImpostor ? 1 : 0,
    }))
    const unknown = data.length === 0 ? { reason: 'unknown_token', msg: 'token not found' } : {}
    return { data, chains: markets.map(({ state }) => state.chain), isProvisional, ...unknown }
  },
})

/**
 * Finds tokens by symbol, name or address, sorted by measure, impostors last. Above the limit, exact matches are preferred over prefixes,
 * and prefixes over other matches.
 */
export function findTokens(
  markets: readonly Market[],
  keyword: string,
  measureOf: TokenMeasure,
  limit: number,
  tokensOf: TokensOf = indexedTokens,
): Found[] {
  const found = createShortlist<Found>(limit, (a, b) => a.match - b.match || byTrust(a, b))
  // A case-insensitive pattern is faster than lower-casing all names.
  const pattern = new RegExp(keyword.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu')
  const places: Places = {
    count: found.trim,
    isOpen(match, volume, isImpostor) {
      const last = found.last()
      if (last === undefined || match !== last.match) return last === undefined || match < last.match
      if (last.isImpostor !== isImpostor) return last.isImpostor
      return measureOf !== TOKEN_MEASURES.tx_volume_u_24h || !(volume < last.measure)
    },
  }
  for (const market of markets) {
    const address = normalAddress(market.facts?.family ?? 'evm', keyword)
    const seen = new Set<string>()
    for (const token of tokensOf(market, keyword, address, places)) {
      const match = matchOf(token, pattern, keyword, address)
      if (match === NO_MATCH || seen.has(token.token)) continue
      seen.add(token.token)
      const trusted = { market, token, match, isImpostor: false, measure: measureOf(market, token) }
      // An impostor would come later still. Its name is only looked at where that decides.
      if (found.admits(trusted)) found.offer({ ...trusted, isImpostor: isLookalike(market, token) })
    }
  }
  return found.items().sort(byTrust)
}

/** What the list still has room for. */
type Places = {
  count(): void
  /** Whether a token of at best this match and this volume of 24 hours can enter, as of the last count or later. */
  isOpen(match: number, volume: number, isImpostor: boolean): boolean
}

/** Tokens among which are all that match a keyword and can enter the list. */
export type TokensOf = (market: Market, keyword: string, address: string, places: Places) => Iterable<TokenState>

export const allTokens: TokensOf = ({ state }) => state.tokens.values()

function* indexedTokens(...[market, keyword, address, places]: Parameters<TokensOf>): Iterable<TokenState> {
  const { tokens, names } = market.state
  if (keyword === '') return yield* tokens.values()
  const isKnownLookalike = knownLookalikes(market)
  const itself = tokens.get(address)
  if (itself !== undefined) yield itself
  for (const { match, slots } of names.search(keyword)) {
    const best = BEST_MATCH[match]
    places.count()
    if (!places.isOpen(best, Number.POSITIVE_INFINITY, false)) return
    const found = slots()
    // Most tokens are not traded. Those that are fill the list first, from the highest volume down, and close it for the others.
    for (const slot of tradedMost(found, names)) {
      const volume = names.volumeAt(slot)
      if (!places.isOpen(best, volume, false)) break
      const token = places.isOpen(best, volume, isKnownLookalike(slot)) ? names.tokenAt(slot) : undefined
      if (token !== undefined) yield token
    }
    places.count()
    if (!places.isOpen(best, 0, false)) continue
    for (const slot of found) {
      if (names.volumeAt(slot) > 0 || !places.isOpen(best, 0, isKnownLookalike(slot))) continue
      const token = names.tokenAt(slot)
      if (token !== undefined) yield token
    }
  }
}

function tradedMost(slots: readonly number[], names: NameIndex): number[] {
  const traded = slots.filter((slot) => names.volumeAt(slot) > 0)
  return traded.sort((a, b) => names.volumeAt(b) - names.volumeAt(a))
}

const BEST_MATCH = { whole: EXACT, start: PREFIX, part: INSIDE }

function byTrust(a: Found, b: Found): number {
  return Number(a.isImpostor) - Number(b.isImpostor) || byMeasure(a, b)
}

function matchOf({ token, info }: TokenState, pattern: RegExp, keyword: string, address: string): number {
  const { length } = keyword
  if (token === address) return EXACT
  const byText = Math.min(matchText(info.symbol, pattern, length), matchText(info.name, pattern, length))
  return byText < INSIDE || isShort(keyword) ? byText : Math.min(byText, placeOf(token.indexOf(address), length, token))
}

function matchText(text: string | null, pattern: RegExp, length: number): number {
  return text === null ? NO_MATCH : placeOf(text.search(pattern), length, text)
}

function placeOf(at: number, length: number, text: string): number {
  if (at < 0) return NO_MATCH
  if (at > 0) return INSIDE
  return text.length === length ? EXACT : PREFIX
}
