/**
 * The UDF datafeed of TradingView's charting library (https://www.tradingview.com/charting-library-docs/, "UDF"): `/udf` with a
 * key in the header, or `/udf/KEY` with one that opens nothing else, since the library sends no headers.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../keys/key-gate.js'
import { admitKey, charge, keyIn } from '../rest/admission.js'
import { encodeAnswer } from '../rest/answer-cache.js'
import { badRequest, RequestError, refuseOtherMethods } from '../rest/problem.js'
import { sendAnswer } from '../rest/send-answer.js'
import { asOf, type RestDeps } from '../rest/serve-operation.js'
import { findBars, MAX_BARS, quoteFor } from './bars.js'
import * as symbols from './symbols.js'

type Query = Readonly<Record<string, unknown>>
type Found = { data: unknown; chains: readonly string[] }

type Feature = {
  costCu: number
  /** May wait for the store: counts towards its key's history queries. */
  readsStore?: true
  find(deps: RestDeps, query: Query): Found | Promise<Found>
}

const DEFAULT_RESULTS = 30
const MAX_RESULTS = 100
const MAX_QUOTES = 50
const MAX_GROUP = 1000

const FEATURES: Readonly<Record<string, Feature>> = {
  config: { costCu: 0, find: ({ chains }) => ({ data: configOf(chains), chains: [] }) },
  time: {
    costCu: 0,
    find: (deps) => ({ data: nowOf(deps), chains: deps.chains.markets().map(({ state }) => state.chain) }),
  },
  symbols: {
    costCu: 1,
    find({ chains }, query) {
      const charted = knownSymbol(chains, textOf(query, 'symbol'))
      const info = symbols.symbolInfo(charted, currencyOf(query))
      return { data: info, chains: [charted.market.state.chain] }
    },
  },
  search: {
    costCu: 5,
    find({ chains }, query) {
      const [type, chain] = [textOf(query, 'type', ''), textOf(query, 'exchange', '')]
      const limit = countOf(query, 'limit', MAX_RESULTS) ?? DEFAULT_RESULTS
      const found = symbols.searchSymbols(chains, { query: textOf(query, 'query', ''), type, chain, limit })
      return { data: found.map(searchResult), chains: chains.markets().map(({ state }) => state.chain) }
    },
  },
  symbol_info: {
    costCu: 5,
    find({ chains }, query) {
      const chain = textOf(query, 'group')
      const market = chains.market(chain)
      if (market === undefined)
        throw badRequest('group_unknown', `Unknown group "${chain.slice(0, 40)}". A group is a chain.`)
      return { data: groupOf(symbols.mostTraded(market, MAX_GROUP)), chains: [market.state.chain] }
    },
  },
  history: {
    costCu: 10,
    readsStore: true,
    async find({ chains, ...sources }, query) {
      const charted = knownSymbol(chains, textOf(query, 'symbol'))
      const toS = secondsOf(query, 'to')
      const count = countOf(query, 'countback', MAX_BARS)
      const fromS = count === undefined ? secondsOf(query, 'from') : 0
      if (fromS > toS) throw badRequest('range_invalid', `\`from\` (${fromS}) is after \`to\` (${toS}).`)
      const interval = symbols.resolutionOf(textOf(query, 'resolution'))
      const { category } = currencyOf(query)
      const data = await findBars(sources, charted, { interval, category, fromS, toS, count })
      return { data, chains: [charted.market.state.chain] }
    },
  },
  quotes: {
    costCu: 5,
    readsStore: true,
    async find({ chains, ...sources }, query) {
      const names = textOf(query, 'symbols').split(',')
      if (names.length > MAX_QUOTES)
        throw badRequest('symbols_too_many', `\`symbols\` allows at most ${MAX_QUOTES}, got ${names.length}.`)
      const quotes = names.map(async (n) => {
        const charted = symbols.chartedOf(chains, n)
        if (charted === undefined) return { s: 'error', n, v: {}, errmsg: unknownSymbol(n).message }
        return { s: 'ok', n, v: await quoteFor(sources, charted) }
      })
      return {
        data: { s: 'ok', d: await Promise.all(quotes) },
        chains: chains.markets().map(({ state }) => state.chain),
      }
    },
  },
}

/** Adds `/udf/FEATURE` and `/udf/KEY/FEATURE`. */
export function addDatafeed(app: FastifyInstance, deps: RestDeps): void {
  for (const [name, feature] of Object.entries(FEATURES)) {
    for (const url of [`/udf/${name}`, `/udf/:key/${name}`]) {
      app.get(url, (request, reply) => answerFeature(name, feature, deps, request, reply))
      refuseOtherMethods(app, url, 'GET')
    }
  }
}

async function answerFeature(
  name: string,
  feature: Feature,
  deps: RestDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    const access = admit(deps, request, reply, feature.costCu)
    await deps.untilPushed()
    const query = request.query as Query
    const make = async () => {
      const { data, chains } = await feature.find(deps, query)
      return encodeAnswer(Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)), { chains })
    }
    const within = feature.readsStore === true ? () => deps.queries.run(access, make) : make
    const answer = await deps.answers.answer(`udf ${name} ${JSON.stringify(query)}`, within)
    charge(deps, access, { id: 'datafeed', costCu: feature.costCu }, reply)
    reply.header('x-as-of', asOf(deps.chains, answer.chains))
    return await sendAnswer(request, reply, answer)
  } catch (error) {
    // The library shows `errmsg`; every other client reads the usual form.
    if (!(error instanceof RequestError)) throw error
    const { status, code, message, headers, extra } = error
    throw new RequestError(status, code, message, headers, { ...extra, s: 'error', errmsg: message })
  }
}

function admit(deps: RestDeps, request: FastifyRequest, reply: FastifyReply, costCu: number): Access {
  const { key: inAddress } = request.params as { key?: string }
  if (inAddress === undefined) return admitKey(deps, keyIn(request), costCu, reply, 'datafeed')
  return admitKey(deps, inAddress, costCu, reply, 'datafeed address')
}

function configOf(chains: RestDeps['chains']) {
  const exchanges = chains.markets().map(({ state, facts }) => {
    const title = facts?.title ?? state.chain
    return { value: state.chain, name: title, desc: title }
  })
  return {
    supported_resolutions: [...symbols.RESOLUTIONS.keys()],
    supports_search: true,
    supports_group_request: false,
    supports_marks: false,
    supports_timescale_marks: false,
    supports_time: true,
    exchanges: [{ value: '', name: 'All chains', desc: '' }, ...exchanges],
    symbols_types: [
      { name: 'All', value: '' },
      { name: 'Tokens', value: 'token' },
      { name: 'Pairs', value: 'pair' },
    ],
    currency_codes: Object.keys(symbols.CURRENCIES),
  }
}

/** The newest chain time: a bar is open until then. */
function nowOf({ chains }: RestDeps): string {
  return String(Math.max(0, ...chains.markets().map(({ state }) => state.nowS)))
}

function searchResult(charted: symbols.Charted) {
  return {
    symbol: symbols.nameOf(charted),
    full_name: symbols.tickerOf(charted),
    ticker: symbols.tickerOf(charted),
    description: symbols.describe(charted),
    exchange: charted.market.state.chain,
    type: symbols.typeOf(charted),
  }
}

/** One array per field. */
function groupOf(found: readonly symbols.Charted[]) {
  const infos = found.map((charted) => symbols.symbolInfo(charted, symbols.currencyOf('USD')))
  const column = (name: keyof (typeof infos)[number]) => infos.map((info) => info[name])
  return {
    symbol: column('name'),
    ticker: column('ticker'),
    description: column('description'),
    'exchange-listed': column('listed_exchange'),
    'exchange-traded': column('exchange'),
    type: column('type'),
    pricescale: column('pricescale'),
    minmovement: 1,
    'session-regular': '24x7',
    timezone: 'Etc/UTC',
    'has-intraday': true,
    'has-daily': true,
    'has-weekly-and-monthly': true,
    'intraday-multipliers': infos[0]?.intraday_multipliers ?? [],
    'supported-resolutions': [...symbols.RESOLUTIONS.keys()],
  }
}

function knownSymbol(chains: RestDeps['chains'], name: string): symbols.Charted {
  const charted = symbols.chartedOf(chains, name)
  if (charted === undefined) throw unknownSymbol(name)
  return charted
}

function unknownSymbol(name: string): RequestError {
  return new RequestError(
    404,
    'symbol_unknown',
    `Unknown symbol "${name.slice(0, 100)}". Expected <address>-<chain>, or a name that \`search\` finds.`,
  )
}

const currencyOf = (query: Query) => symbols.currencyOf(textOf(query, 'currencyCode', 'USD'))

const MAX_TEXT = 4096

function textOf(query: Query, name: string, standard?: string): string {
  const value = query[name] ?? standard
  if (typeof value === 'string' && value.length <= MAX_TEXT) return value
  throw badRequest(
    'query_invalid',
    `\`${name}\` ${value === undefined ? 'is required in the query' : 'must be one text'}.`,
  )
}

/** The library sends negative times where a chart begins before 1970. */
function secondsOf(query: Query, name: string): number {
  const text = textOf(query, name)
  if (/^-?\d{1,12}$/.test(text)) return Math.max(0, Number(text))
  throw badRequest('query_invalid', `\`${name}\` must be epoch seconds, got "${text.slice(0, 40)}".`)
}

function countOf(query: Query, name: string, max: number): number | undefined {
  if (query[name] === undefined) return undefined
  const text = textOf(query, name)
  if (/^\d{1,12}$/.test(text) && Number(text) > 0) return Math.min(max, Number(text))
  throw badRequest('query_invalid', `\`${name}\` must be a positive whole number, got "${text.slice(0, 40)}".`)
}
