import type { HistoryInterval } from './candle-bars.js'
import type { Order } from './near-rows.js'
import type { Queries } from './query-lanes.js'
import type { Span } from './stored-candles.js'
import { clampS, numberOf, type StoredRow } from './stored-rows.js'

export type HolderCount = { timeS: number; holders: number }

/** The last (or first) `limit` hours or days in which a token's number of holders changed, ascending. Only stored ones: flush before. */
export async function readHolderCounts(
  store: Queries,
  of: { chain: string; token: string },
  interval: HistoryInterval,
  { fromS, toS }: Span,
  order: Order,
  limit: number,
): Promise<HolderCount[]> {
  const bucket = interval.stored === 'k60' ? 'time' : 'toStartOfDay(time)'
  const rows = await store.query<StoredRow>(
    `SELECT toUInt32(${bucket}) AS time_s, argMax(holders, time) AS last_holders
     FROM holder_hour_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String}
       AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
     GROUP BY time_s ORDER BY time_s ${order === 'latest' ? 'DESC' : 'ASC'} LIMIT {limit:UInt32}`,
    {
      ...{ ...of, limit, from: clampS(interval.startOf(fromS)) },
      to: clampS(interval.step(interval.startOf(toS), 1) - 1),
    },
  )
  const counts = rows.map((row) => ({ timeS: Number(row.time_s), holders: numberOf(row.last_holders) }))
  return order === 'latest' ? counts.reverse() : counts
}
