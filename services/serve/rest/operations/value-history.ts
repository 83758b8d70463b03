import { type Static, Type } from '@sinclair/typebox'
import { HISTORY_INTERVALS, type HistoryInterval } from '../../history/candle-bars.js'
import { orderOf, wholeHistory } from '../../history/candle-history.js'
import { mainPairSegments } from '../../history/main-pairs.js'
import { type PairValue, readPairValues } from '../../history/pair-hours.js'
import type { Segment } from '../../history/stored-candles.js'
import { decimal, decimalOrNull, fieldsOf, int, text } from '../../views/field-formats.js'
import { finalUntilS, type Market } from '../../views/market-facts.js'
import { candleCursor, readCandleCursor } from '../cursors.js'
import { type OperationContext, operation } from '../operation.js'
import {
  checkRange,
  epochSeconds,
  limitOf,
  NextCursor,
  PagedQuery,
  PairIdParams,
  resolveId,
  TokenIdParams,
} from '../parameters.js'

const DEFAULT_LIMIT = 168
const MAX_LIMIT = 1000

const HistoryQuery = Type.Object({
  interval: Type.Optional(
    Type.Union([Type.Literal('60'), Type.Literal('1440')], {
      default: '60',
      description: '60: at the end of each hour, 1440: of each day',
    }),
  ),
  limit: limitOf('points', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
  from_time: Type.Optional(epochSeconds('First bucket start')),
  to_time: Type.Optional(epochSeconds('Last bucket start')),
  ...PagedQuery,
})

const HistoryData = Type.Object({
  interval: int,
  limit: int,
  to_time: int,
  total_count: int,
  next_cursor: NextCursor,
  points: Type.Array(
    Type.Object({
      time: int,
      pair_id: text,
      ...fieldsOf(['price_usd', 'tvl', 'liquidity_usd', 'market_cap', 'fdv'], decimal),
    }),
  ),
})

export const pairHistory = operation({
  id: 'pairHistory',
  method: 'GET',
  path: '/v2/pairs/{pair-id}/history',
  summary: 'Price, TVL and market cap of a pair at the end of each hour or day with events',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: PairIdParams,
  query: HistoryQuery,
  data: HistoryData,
  async handle(context, { params, query }) {
    const { address, chain, market } = resolveId(context.chains, params['pair-id'], 'pair-id')
    const isKnown = market.state.pairs.has(address)
    const data = await readHistory(context, market, query, async () => (isKnown ? [wholeHistory(address)] : []))
    const unknown = { reason: 'unknown_pair', msg: 'pair not found' }
    return { data, chains: [chain], isProvisional: true, ...(isKnown ? {} : unknown) }
  },
})

export const tokenHistory = operation({
  id: 'tokenHistory',
  method: 'GET',
  path: '/v2/tokens/{token-id}/history',
  summary: 'Price and market cap of a token at the end of each hour or day, with the TVL of its main pair then',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: TokenIdParams,
  query: HistoryQuery,
  data: HistoryData,
  async handle(context, { params, query }) {
    const { address, chain, market } = resolveId(context.chains, params['token-id'], 'token-id')
    const isKnown = market.state.tokens.has(address)
    const data = await readHistory(context, market, query, (interval) =>
      mainPairSegments(context, market.state, address, interval),
    )
    const unknown = { reason: 'unknown_token', msg: 'token not found' }
    return { data, chains: [chain], isProvisional: true, ...(isKnown ? {} : unknown) }
  },
})

async function readHistory(
  { store, flush }: OperationContext,
  market: Market,
  query: Static<typeof HistoryQuery>,
  segmentsOf: (interval: HistoryInterval) => Promise<Segment[]>,
): Promise<Static<typeof HistoryData>> {
  const { chain, nowS } = market.state
  const { from_time: fromS, to_time: toS, limit = DEFAULT_LIMIT } = query
  checkRange(fromS, toS)
  const interval = HISTORY_INTERVALS.get(query.interval ?? '60') as HistoryInterval
  const cursor = query.cursor === undefined ? undefined : readCandleCursor(query.cursor)
  const order = cursor?.order ?? orderOf({ fromS, toS })
  const firstS = cursor?.order === 'earliest' ? Math.max(fromS ?? 0, cursor.timeS + 1) : (fromS ?? 0)
  const ends = [toS ?? nowS, ...(cursor?.order === 'latest' ? [cursor.timeS - 1] : [])]
  if (query.finalized === 'true') ends.push(interval.step(interval.startOf(finalUntilS(market)), -1))
  const span = { fromS: ceiling(interval, firstS), toS: Math.min(...ends) }
  await flush(chain)
  const segments = span.fromS > span.toS ? [] : await segmentsOf(interval)
  const values = await readPairValues(store, chain, segments, interval, span, order, limit)
  const edge = order === 'latest' ? values[0] : values.at(-1)
  const isLast = order === 'latest' && values.length < limit
  const edgeS = edge?.timeS ?? Math.max(0, firstS - 1)
  return {
    ...{ interval: interval.name as number, limit, to_time: toS ?? nowS, total_count: values.length },
    ...(isLast ? {} : { next_cursor: candleCursor({ order, timeS: edgeS }) }),
    points: values.map((value) => pointOf(value, chain)),
  }
}

/** The first bucket that starts at or after a time. */
function ceiling(interval: HistoryInterval, timeS: number): number {
  const startS = interval.startOf(timeS)
  return startS < timeS ? interval.step(startS, 1) : startS
}

function pointOf({ timeS, pair, priceUsd, tvl, liquidityUsd, supply, supplyLeft }: PairValue, chain: string) {
  return {
    time: timeS,
    pair_id: `${pair}-${chain}`,
    price_usd: decimalOrNull(priceUsd),
    tvl: decimalOrNull(tvl),
    liquidity_usd: decimalOrNull(liquidityUsd),
    market_cap: decimalOrNull(priceUsd * supplyLeft),
    fdv: decimalOrNull(priceUsd * supply),
  }
}
