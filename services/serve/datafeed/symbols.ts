/** Symbols of the TradingView datafeed: every pair, and every token, whose candles are those of its main pairs. */
import { dayVolumeUsd } from '../../core/domain/packed-windows.js'
import { type ChainDirectory, parseId } from '../chain-directory.js'
import { type Category, HISTORY_INTERVALS, type HistoryInterval } from '../history/candle-bars.js'
import type { PairState, TokenState } from '../memory/served-chain.js'
import { findTokens } from '../rest/operations/tokens-keyword.js'
import { badRequest } from '../rest/problem.js'
import {
  type Market,
  mainPairOf,
  quoteOf,
  targetOf,
  tokenInfo,
  tokenPriceNative,
  tokenPriceUsd,
} from '../views/market-facts.js'
import { createShortlist, deepestPairs, descending, TOKEN_MEASURES } from '../views/ranking.js'

/** What a symbol names. */
export type Charted = { market: Market } & ({ pair: PairState } | { token: TokenState })

export const CURRENCIES: Readonly<Record<string, Category>> = { USD: 'u', NATIVE: 'm', QUOTE: 'r' }

const intervalNamed = (name: string): HistoryInterval => HISTORY_INTERVALS.get(name) as HistoryInterval

/** By TradingView's names. */
export const RESOLUTIONS: ReadonlyMap<string, HistoryInterval> = new Map([
  ['1S', intervalNamed('s1')],
  ...['1', '5', '15', '30', '60', '120', '240'].map((name): [string, HistoryInterval] => [name, intervalNamed(name)]),
  ['1D', intervalNamed('1440')],
  ['3D', intervalNamed('4320')],
  ['1W', intervalNamed('10080')],
  ['1M', intervalNamed('43200')],
])

/** A resolution may come without its 1: `D`, `W`. */
export function resolutionOf(name: string): HistoryInterval {
  const found = RESOLUTIONS.get(/^\d/.test(name) ? name : `1${name}`)
  if (found !== undefined) return found
  throw badRequest(
    'resolution_unknown',
    `Unknown resolution "${name.slice(0, 20)}". Expected one of ${[...RESOLUTIONS.keys()].join(', ')}.`,
  )
}

export function currencyOf(code: string): { code: string; category: Category } {
  const category = CURRENCIES[code]
  if (category !== undefined) return { code, category }
  throw badRequest(
    'currency_unknown',
    `Unknown currency "${code.slice(0, 20)}". Expected one of ${Object.keys(CURRENCIES).join(', ')}.`,
  )
}

/** By id, or by name as `search` gives it: the most traded one of that name. A chain and a colon may stand before it. */
export function chartedOf(chains: ChainDirectory, symbol: string): Charted | undefined {
  const id = symbol.slice(symbol.indexOf(':') + 1)
  const parsed = parseId(chains, id, 'id')
  if ('market' in parsed) {
    const { market, address } = parsed
    const pair = market.state.pairs.get(address)
    if (pair !== undefined) return { market, pair }
    const token = market.state.tokens.get(address)
    if (token !== undefined) return { market, token }
  }
  const chain = symbol.includes(':') ? symbol.slice(0, symbol.indexOf(':')).toLowerCase() : ''
  return searchSymbols(chains, { query: id, type: '', chain, limit: NAMED_AMONG }).find(
    (charted) => nameOf(charted).toLowerCase() === id.toLowerCase(),
  )
}

const NAMED_AMONG = 30

export type SymbolSearch = { query: string; type: string; chain: string; limit: number }

/** Tokens by symbol, name or address, most traded first, and behind each its deepest pairs; a pair by its address. */
export function searchSymbols(chains: ChainDirectory, { query, type, chain, limit }: SymbolSearch): Charted[] {
  const markets = chains.markets().filter(({ state }) => chain === '' || state.chain === chain)
  const keyword = query.trim()
  if (keyword === '') return markets.flatMap((market) => mostTraded(market, limit, type)).slice(0, limit)
  const [target = '', quote] = keyword.split('/')
  const found: Charted[] = markets.flatMap((market) => pairsAt(market, keyword).map((pair) => ({ market, pair })))
  for (const { market, token } of findTokens(markets, target, TOKEN_MEASURES.tx_volume_u_24h, limit)) {
    if (type !== 'pair' && quote === undefined) found.push({ market, token })
    if (type === 'token') continue
    for (const pair of deepestPairs(market, token.token, PAIRS_OF_TOKEN)) {
      const isQuoted = quote === undefined || startsAlike(tokenInfo(market, quoteOf(pair)).symbol ?? '', quote)
      if (targetOf(pair) === token.token && isQuoted) found.push({ market, pair })
    }
    if (found.length >= limit) break
  }
  return found.filter((one) => type === '' || type === typeOf(one)).slice(0, limit)
}

const PAIRS_OF_TOKEN = 5

const startsAlike = (text: string, start: string): boolean => text.toLowerCase().startsWith(start.toLowerCase())

/** The charting library sends what was typed in upper case, also an address that distinguishes cases. */
function pairsAt({ state }: Market, address: string): PairState[] {
  const exact = state.pairs.get(address) ?? state.pairs.get(address.toLowerCase())
  if (exact !== undefined) return [exact]
  if (address.length < SHORTEST_ADDRESS) return []
  const lower = address.toLowerCase()
  return [...state.pairs.values()].filter(({ pair }) => pair.toLowerCase() === lower)
}

const SHORTEST_ADDRESS = 32

export function mostTraded(market: Market, limit: number, type = ''): Charted[] {
  if (type === 'token')
    return findTokens([market], '', TOKEN_MEASURES.tx_volume_u_24h, limit).map(({ token }) => ({ market, token }))
  const pairs = createShortlist<PairState>(
    limit,
    (a, b) => descending(dayVolumeUsd(a.windows), dayVolumeUsd(b.windows)) || (a.pair < b.pair ? -1 : 1),
  )
  for (const pair of market.state.pairs.values()) pairs.offer(pair)
  return pairs.items().map((pair) => ({ market, pair }))
}

export const typeOf = (charted: Charted): 'pair' | 'token' => ('pair' in charted ? 'pair' : 'token')

export function tickerOf(charted: Charted): string {
  const address = 'pair' in charted ? charted.pair.pair : charted.token.token
  return `${address}-${charted.market.state.chain}`
}

/** The symbols of its tokens; an address stands for an unknown one. */
export function nameOf(charted: Charted): string {
  const { market } = charted
  const symbolOf = (token: string): string => tokenInfo(market, token).symbol ?? token
  if ('token' in charted) return symbolOf(charted.token.token)
  return `${symbolOf(targetOf(charted.pair))}/${symbolOf(quoteOf(charted.pair))}`
}

export function describe(charted: Charted): string {
  const { market } = charted
  const title = market.facts?.title ?? market.state.chain
  if ('token' in charted) return `${tokenInfo(market, charted.token.token).name ?? nameOf(charted)} on ${title}`
  return `${nameOf(charted)} on ${charted.pair.info.amm}, ${title}`
}

/** In USD or native coins; NaN if unknown. */
export function lastPrice({ market, ...charted }: Charted, category: 'u' | 'm'): number {
  if ('pair' in charted) return category === 'u' ? charted.pair.price_usd : charted.pair.price_native
  return category === 'u' ? tokenPriceUsd(market, charted.token) : tokenPriceNative(market, charted.token)
}

/** To choose how many digits are shown. */
function typicalPrice(charted: Charted, category: Category): number {
  if (category !== 'r') return lastPrice(charted, category)
  const main = 'pair' in charted ? charted.pair : mainPairOf(charted.market, charted.token)
  return main?.price_quote ?? Number.NaN
}

const MIN_DIGITS = 2
/** Above 2^53 a scale is not exact. */
const MAX_DIGITS = 15
const SIGNIFICANT_DIGITS = 5

/** Prices are shown in steps of 1 / scale: five significant digits of the last price. */
function priceScale(price: number): number {
  if (!(price > 0)) return 10 ** SIGNIFICANT_DIGITS
  const digits = SIGNIFICANT_DIGITS - 1 - Math.floor(Math.log10(price))
  return 10 ** Math.min(MAX_DIGITS, Math.max(MIN_DIGITS, digits))
}

const numbersOf = (form: RegExp): string[] => [...RESOLUTIONS.keys()].flatMap((name) => form.exec(name)?.[1] ?? [])

export type SymbolInfo = ReturnType<typeof symbolInfo>

/** `LibrarySymbolInfo` of the charting library. */
export function symbolInfo(charted: Charted, currency: { code: string; category: Category }) {
  return {
    name: nameOf(charted),
    ticker: tickerOf(charted),
    description: describe(charted),
    type: typeOf(charted),
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: charted.market.state.chain,
    listed_exchange: charted.market.state.chain,
    format: 'price',
    minmov: 1,
    pricescale: priceScale(typicalPrice(charted, currency.category)),
    currency_code: currency.code,
    original_currency_code: 'USD',
    has_seconds: true,
    seconds_multipliers: numbersOf(/^(\d+)S$/),
    has_intraday: true,
    intraday_multipliers: numbersOf(/^(\d+)$/),
    has_daily: true,
    daily_multipliers: numbersOf(/^(\d+)D$/),
    has_weekly_and_monthly: true,
    weekly_multipliers: numbersOf(/^(\d+)W$/),
    monthly_multipliers: numbersOf(/^(\d+)M$/),
    supported_resolutions: [...RESOLUTIONS.keys()],
    has_empty_bars: false,
    volume_precision: 2,
    data_status: 'streaming',
  }
}
