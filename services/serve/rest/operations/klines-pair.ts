import { type Static, Type } from '@sinclair/typebox'
import { type Bar, HISTORY_INTERVALS, type HistoryInterval } from '../../history/candle-bars.js'
import { orderOf, readHistory, wholeHistory } from '../../history/candle-history.js'
import { curvePair } from '../../memory/served-chain.js'
import { fieldsOf, int, plainDecimal, text } from '../../views/field-formats.js'
import { finalUntilS, isFinal, type Market, targetOf } from '../../views/market-facts.js'
import { candleCursor, readCandleCursor } from '../cursors.js'
import { operation } from '../operation.js'
import { PAGE_FORMAT, PAGE_TYPES } from '../page-files.js'
import { checkRange, epochSeconds, limitOf, NextCursor, PagedQuery, PairIdParams, resolveId } from '../parameters.js'
import { badRequest } from '../problem.js'

const DEFAULT_INTERVAL = '60'
const DEFAULT_LIMIT = 300
const MAX_LIMIT = 1000

/** Query parameters of both candle operations. */
export const KlinesQuery = Type.Object({
  interval: Type.Optional(
    Type.String({
      ...{ enum: [...HISTORY_INTERVALS.keys()], default: DEFAULT_INTERVAL },
      description: 'Interval in minutes, optionally with the prefix k; s1 for one second',
    }),
  ),
  limit: limitOf('points', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: 'Alias of limit' })),
  from_time: Type.Optional(epochSeconds('First bucket start')),
  to_time: Type.Optional(epochSeconds('Last bucket start')),
  category: Type.Optional(
    Type.Union([Type.Literal('u'), Type.Literal('m'), Type.Literal('r')], {
      default: 'u',
      description: 'Currency. u: USD, m: native coin, r: quote token',
    }),
  ),
  open: Type.Optional(
    Type.Literal('first', {
      description: 'first: open at the first price in the bucket instead of the previous close',
    }),
  ),
  fill: Type.Optional(
    Type.Literal('previous', {
      description: 'previous: fill buckets without trades with the previous close, marked as filled',
    }),
  ),
  ...PagedQuery,
  format: PAGE_FORMAT,
})

const PRICES = ['open', 'high', 'low', 'close', 'volume'] as const

const Point = Type.Object({ ...fieldsOf(PRICES, text), time: int, filled: Type.Optional(Type.Boolean()) })

export const CANDLE_FILE = { rows: 'points', item: Point, doubles: PRICES }

export const KlinesData = Type.Object({
  pair_id: text,
  interval: Type.Unsafe<number | string>({ type: ['integer', 'string'] }),
  limit: int,
  to_time: int,
  total_count: int,
  next_cursor: NextCursor,
  target_token_id: text,
  pump_pair_id: Type.Optional(
    Type.String({ description: 'Bonding curve of the token, if the curve has no pool address' }),
  ),
  points: Type.Array(Point),
})

export const klinesPair = operation({
  id: 'klinesPair',
  method: 'GET',
  path: '/v2/klines/pair/{pair-id}',
  summary: 'Candles of a pair',
  costCu: 10,
  envelope: true,
  readsStore: true,
  params: PairIdParams,
  query: KlinesQuery,
  data: KlinesData,
  file: CANDLE_FILE,
  otherTypes: PAGE_TYPES,
  async handle({ chains, ...sources }, { params, query }) {
    const { address, chain, market } = resolveId(chains, params['pair-id'], 'pair-id')
    const range = readKlinesQuery(query, market)
    const pair = market.state.pairs.get(address)
    const shared = {
      pair_id: `${address}-${chain}`,
      interval: range.interval.name,
      limit: range.limit,
      to_time: range.toS ?? market.state.nowS,
    }
    if (pair === undefined) {
      const data = { ...shared, total_count: 0, target_token_id: '', points: [] }
      return { data, chains: [chain], reason: 'unknown_pair', msg: 'pair not found' }
    }
    const bars = await readHistory(sources, market.state, { segments: [wholeHistory(address)], ...range })
    const points = bars.map((bar) => point(bar, query.open === 'first'))
    const reason = pair.tx_count === 0 ? { reason: 'no_trades' } : {}
    const target = { target_token_id: `${targetOf(pair)}-${chain}`, ...curveOf(market, targetOf(pair)) }
    const isClosed = pair.tx_count > 0 && isClosedRange(market, range)
    const data = { ...shared, total_count: points.length, ...nextCandles(bars, range), ...target, points }
    return { data, chains: [chain], ...reason, isClosed }
  },
})

export function readKlinesQuery(query: Static<typeof KlinesQuery>, market: Market) {
  const { from_time: fromS, to_time: toS } = query
  checkRange(fromS, toS)
  const interval = intervalOf(query.interval ?? DEFAULT_INTERVAL)
  const cursor = query.cursor === undefined ? undefined : readCandleCursor(query.cursor)
  const order = cursor?.order ?? orderOf({ fromS, toS })
  const ends = [
    ...(toS === undefined ? [] : [toS]),
    ...(cursor?.order === 'latest' ? [cursor.timeS - 1] : []),
    ...(query.finalized === 'true' ? [interval.step(interval.startOf(finalUntilS(market)), -1)] : []),
  ]
  return {
    interval,
    category: query.category ?? 'u',
    limit: query.limit ?? query.size ?? DEFAULT_LIMIT,
    fromS: cursor?.order === 'earliest' ? Math.max(fromS ?? 0, cursor.timeS + 1) : fromS,
    toS: ends.length === 0 ? undefined : Math.min(...ends),
    fill: query.fill === 'previous',
    order,
  }
}

/** Forward, later candles may follow at any time; backward, none before an answer that is not full. */
export function nextCandles(
  bars: readonly Bar[],
  { order, limit, fromS = 0 }: ReturnType<typeof readKlinesQuery>,
): { next_cursor?: string } {
  if (order === 'latest' && bars.length < limit) return {}
  const edgeS = (order === 'latest' ? bars[0] : bars.at(-1))?.timeS ?? Math.max(0, fromS - 1)
  return { next_cursor: candleCursor({ order, timeS: edgeS }) }
}

/** Second candles are deleted after a while. */
function isClosedRange({ state }: Market, { interval, toS }: ReturnType<typeof readKlinesQuery>): boolean {
  if (toS === undefined || interval.stored === 's1') return false
  return isFinal(state, interval.step(interval.startOf(toS), 1))
}

export function curveOf({ state }: Market, token: string): { pump_pair_id?: string } {
  const curve = curvePair(token)
  return state.pairs.has(curve) ? { pump_pair_id: `${curve}-${state.chain}` } : {}
}

export function intervalOf(name: string): HistoryInterval {
  const interval = HISTORY_INTERVALS.get(name)
  if (interval !== undefined) return interval
  throw badRequest(
    'interval_unknown',
    `Unknown \`interval\`. Expected one of ${[...HISTORY_INTERVALS.keys()].join(', ')}.`,
  )
}

/** A bucket with only flagged trades has no first price and keeps its open. */
export function point(bar: Bar, openFirst: boolean) {
  const open = openFirst && !Number.isNaN(bar.first) ? bar.first : bar.open
  return {
    open: plainDecimal(open),
    high: plainDecimal(bar.high),
    low: plainDecimal(bar.low),
    close: plainDecimal(bar.close),
    volume: plainDecimal(bar.volume),
    time: bar.timeS,
    ...(bar.filled ? { filled: true } : {}),
  }
}
