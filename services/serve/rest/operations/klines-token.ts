import { readHistory } from '../../history/candle-history.js'
import { mainPairSegments } from '../../history/main-pairs.js'
import { operation } from '../operation.js'
import { PAGE_TYPES } from '../page-files.js'
import { resolveId, TokenIdParams } from '../parameters.js'
import { CANDLE_FILE, curveOf, KlinesData, KlinesQuery, nextCandles, point, readKlinesQuery } from './klines-pair.js'

export const klinesToken = operation({
  id: 'klinesToken',
  method: 'GET',
  path: '/v2/klines/token/{token-id}',
  summary: 'Candles of a token, each from its main pair at the end of the bucket',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: TokenIdParams,
  query: KlinesQuery,
  data: KlinesData,
  file: CANDLE_FILE,
  otherTypes: PAGE_TYPES,
  async handle({ chains, ...sources }, { params, query }) {
    const { address, chain, market } = resolveId(chains, params['token-id'], 'token-id')
    const range = readKlinesQuery(query, market)
    const token = market.state.tokens.get(address)
    const main = token?.main_pair ?? null
    const shared = {
      pair_id: main === null ? '' : `${main}-${chain}`,
      interval: range.interval.name,
      limit: range.limit,
      to_time: range.toS ?? market.state.nowS,
      target_token_id: `${address}-${chain}`,
    }
    if (token === undefined) {
      const data = { ...shared, target_token_id: '', total_count: 0, points: [] }
      return { data, chains: [chain], reason: 'unknown_token', msg: 'token not found' }
    }
    const segments = await mainPairSegments(sources, market.state, address, range.interval)
    const bars = await readHistory(sources, market.state, { segments, ...range })
    const points = bars.map((bar) => point(bar, query.open === 'first'))
    const next = nextCandles(bars, range)
    const data = { ...shared, ...curveOf(market, address), total_count: points.length, ...next, points }
    if (segments.length === 0) return { data, chains: [chain], reason: 'no_main_pair' }
    const hasTraded = segments.some(({ pair }) => (market.state.pairs.get(pair)?.tx_count ?? 0) > 0)
    return { data, chains: [chain], ...(hasTraded ? {} : { reason: 'no_trades' }) }
  },
})
