import type { HistoryInterval } from './candle-bars.js'
import type { Order } from './near-rows.js'
import type { Queries } from './query-lanes.js'
import { IN_A_SEGMENT, type Segment, type Span } from './stored-candles.js'
import { clampS, numberOf, type StoredRow } from './stored-rows.js'

/** What a pair was worth at the end of an hour or day with events; NaN: unknown. */
export type PairValue = {
  timeS: number
  pair: string
  priceUsd: number
  tvl: number
  liquidityUsd: number
  supply: number
  supplyLeft: number
}

const FIGURES = ['price_usd', 'tvl', 'liquidity_usd', 'supply', 'supply_left'] as const

/** The last (or first) `limit` values of the segments within the span, ascending. Only stored ones: flush before. */
export async function readPairValues(
  store: Queries,
  chain: string,
  segments: readonly Segment[],
  interval: HistoryInterval,
  { fromS, toS }: Span,
  order: Order,
  limit: number,
): Promise<PairValue[]> {
  if (segments.length === 0) return []
  // A day ends with its last hour.
  const bucket = interval.stored === 'k60' ? 'time' : 'toStartOfDay(time)'
  const rows = await store.query<StoredRow>(
    `SELECT toUInt32(${bucket}) AS time_s, argMax(pair, time) AS last_pair,
       ${FIGURES.map((name) => `argMax(${name}, time) AS last_${name}`).join(', ')}
     FROM pair_hour_rows FINAL
     WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} ${IN_A_SEGMENT}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
     GROUP BY time_s ORDER BY time_s ${order === 'latest' ? 'DESC' : 'ASC'} LIMIT {limit:UInt32}`,
    {
      ...{
        chain,
        limit,
        from: clampS(interval.startOf(fromS)),
        to: clampS(interval.step(interval.startOf(toS), 1) - 1),
      },
      pairs: segments.map(({ pair }) => pair),
      froms: segments.map((segment) => clampS(segment.fromS)),
      tos: segments.map((segment) => clampS(segment.toS)),
    },
  )
  const values = rows.map((row) => ({
    timeS: Number(row.time_s),
    pair: String(row.last_pair),
    priceUsd: numberOf(row.last_price_usd),
    tvl: numberOf(row.last_tvl),
    liquidityUsd: numberOf(row.last_liquidity_usd),
    supply: numberOf(row.last_supply),
    supplyLeft: numberOf(row.last_supply_left),
  }))
  return order === 'latest' ? values.reverse() : values
}
