/** The largest trades and liquidity events of the loaded bars. */
import { askRows } from '../sql/ask-rows.js'
import { quoted } from '../sql/sql-text.js'
import type { EventKind, EventMark } from './marks.js'

const MOST_EVENTS = 80

type Range = { pair: string; chain: string; fromS: number }

export async function readMarks(
  { pair, chain, fromS }: Range,
  wanted: { trades: boolean; liquidity: boolean },
  signal: AbortSignal,
): Promise<EventMark[]> {
  const read = async (view: 'trades' | 'liquidity', kind: string, condition: string): Promise<EventMark[]> => {
    const rows = await askRows(
      `SELECT toUnixTimestamp(time) AS at, ${kind} AS kind, amount_usd AS usd FROM ${view}
WHERE chain = ${quoted(chain)} AND pair = ${quoted(pair)} AND time >= toDateTime(${Math.floor(fromS)}, 'UTC') AND amount_usd > 0${condition}
ORDER BY usd DESC LIMIT ${MOST_EVENTS}`,
      signal,
    )
    return rows.map((row) => ({
      ...{ timeS: Number(row.at), kind: String(row.kind) as EventKind, valueUsd: Number(row.usd) },
    }))
  }
  const lists = await Promise.all([
    wanted.trades ? read('trades', 'side', '') : [],
    wanted.liquidity ? read('liquidity', 'kind', " AND kind != 'create'") : [],
  ])
  return lists.flat()
}
