/** A page of figures at the end of each hour or day: its query, and how it is read. */
import { type Static, Type } from '@sinclair/typebox'
import { HISTORY_INTERVALS, type HistoryInterval } from '../history/candle-bars.js'
import { orderOf } from '../history/candle-history.js'
import type { Order } from '../history/near-rows.js'
import type { Span } from '../history/stored-candles.js'
import { int } from '../views/field-formats.js'
import { finalUntilS, type Market } from '../views/market-facts.js'
import { candleCursor, readCandleCursor } from './cursors.js'
import { checkRange, epochSeconds, limitOf, NextCursor, PagedQuery } from './parameters.js'

const DEFAULT_LIMIT = 168
const MAX_LIMIT = 1000

export const HistoryQuery = Type.Object({
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

export const historyPage = { interval: int, limit: int, to_time: int, total_count: int, next_cursor: NextCursor }

type Page = { interval: HistoryInterval; span: Span; order: Order; limit: number }

/** `read`: the last (or first) values within a span, ascending. It is called after all that was applied is stored. */
export async function readHistoryPage<Value extends { timeS: number }>(
  market: Market,
  flush: (chain: string) => Promise<void>,
  query: Static<typeof HistoryQuery>,
  read: (page: Page) => Promise<Value[]>,
) {
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
  const values = span.fromS > span.toS ? [] : await read({ interval, span, order, limit })
  const edge = order === 'latest' ? values[0] : values.at(-1)
  const isLast = order === 'latest' && values.length < limit
  const edgeS = edge?.timeS ?? Math.max(0, firstS - 1)
  return {
    ...{ interval: interval.name as number, limit, to_time: toS ?? nowS, total_count: values.length },
    ...(isLast ? {} : { next_cursor: candleCursor({ order, timeS: edgeS }) }),
    values,
  }
}

/** The first bucket that starts at or after a time. */
function ceiling(interval: HistoryInterval, timeS: number): number {
  const startS = interval.startOf(timeS)
  return startS < timeS ? interval.step(startS, 1) : startS
}
