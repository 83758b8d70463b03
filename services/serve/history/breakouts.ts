/** The hours in which a pair traded far more than in its day before, and the trades that made them so. */
import { BREAKOUT, breakoutLevelUsd, breakoutTrade } from '../signals/signal-rules.js'
import { inChainOrder } from './event-order.js'
import type { Queries } from './query-lanes.js'
import { type SignalEvent, type SignalRange, tradeAction } from './signal-events.js'
import { numberOf, type StoredRow, TRADE_COLUMNS, tradeOf } from './stored-rows.js'

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
/** Trades of the minute that a signal lists. */
const MOST_ACTIONS = 20

type Crossing = { pair: string; minute: number; beforeUsd: number; pastUsd: number }

export async function readBreakouts(store: Queries, range: SignalRange): Promise<SignalEvent[]> {
  const since = {
    ...range,
    since: Math.max(0, range.from - DAY_S - HOUR_S),
    firstHour: Math.max(0, range.from - HOUR_S),
  }
  const busy = await store.query<{ pair: string }>(BUSY_PAIRS, since)
  if (busy.length === 0) return []
  const pairs = busy.map(({ pair }) => pair)
  const crossings = (await store.query<StoredRow>(CROSSINGS, { ...since, pairs })).map(crossingOf)
  if (crossings.length === 0) return []
  const byMinute = new Map(crossings.map((one) => [`${one.pair}/${one.minute}`, one]))
  const params = { ...since, pairs: [...new Set(crossings.map(({ pair }) => pair))], minutes: [...byMinute.keys()] }
  const rows = new Map<string, StoredRow[]>()
  for (const row of await store.query<StoredRow>(TRADES_OF_MINUTES, params)) {
    const minute = `${row.pair}/${Math.floor(Number(row.time_s) / 60)}`
    rows.set(minute, [...(rows.get(minute) ?? []), row])
  }
  const found = [...rows].flatMap(([minute, own]) => breakoutOf(own, byMinute.get(minute)))
  return found.filter(({ timeS }) => timeS > range.from)
}

function breakoutOf(rows: readonly StoredRow[], crossing: Crossing | undefined): SignalEvent[] {
  if (crossing === undefined) return []
  const ordered = rows
    .map((row) => ({ trade: tradeOf(row), action: tradeAction(row) }))
    .sort((a, b) => inChainOrder(a.trade, b.trade))
  const trades = ordered.map(({ trade }) => trade)
  const actions = ordered.map(({ action }) => action)
  const at = breakoutTrade(trades, crossing.beforeUsd, breakoutLevelUsd(crossing.pastUsd))
  const last = actions[at]
  if (last === undefined) return []
  const earlier = actions.slice(0, at)
  const known = [...earlier, last].flatMap(({ amountUsd }) => (Number.isNaN(amountUsd) ? [] : [amountUsd]))
  const totalUsd = known.reduce((sum, usd) => sum + usd, crossing.beforeUsd)
  return [{ ...last, type: 'volume_breakout', earlier: earlier.slice(1 - MOST_ACTIONS), totalUsd }]
}

function crossingOf(row: StoredRow): Crossing {
  const [beforeUsd, pastUsd] = [numberOf(row.before_usd), numberOf(row.past_usd)]
  return { pair: String(row.pair), minute: Number(row.minute), beforeUsd, pastUsd }
}

/** By their hour candles, which are few. The day before an hour's minute is 23 whole hours and a part of one: a wider net. */
const BUSY_PAIRS = `
  WITH hours AS (
    SELECT c.pair AS pair, toUInt32(c.time) AS hour, argMax(c.volume_u, c.version) AS usd
    FROM candle_rows AS c
    WHERE c.chain = {chain:String} AND c.interval = 'k60' AND c.time >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY pair, hour HAVING argMax(c.is_deleted, c.version) = 0
  )
  SELECT DISTINCT pair FROM (
    SELECT pair, hour, usd, sum(usd) OVER (PARTITION BY pair ORDER BY hour RANGE BETWEEN ${DAY_S - HOUR_S} PRECEDING AND 1 PRECEDING) AS past
    FROM hours
  )
  WHERE hour >= {firstHour:UInt32} AND usd * 1.000001 >= greatest(${BREAKOUT.leastHourUsd}, ${BREAKOUT.shareOfPast} * past)`

/**
 * The minutes in which an hour's volume reaches its level. The level is the same all through a minute: the day's window of an update
 * begins with a minute too.
 */
const CROSSINGS = `
  WITH minutes AS (
    SELECT t.pair AS pair, intDiv(toUInt32(t.time), 60) AS minute, sum(ifNotFinite(t.amount_usd, 0)) AS usd
    FROM trade_rows AS t FINAL
    WHERE t.chain = {chain:String} AND t.pair IN {pairs:Array(String)} AND t.time >= toDateTime({since:UInt32}, 'UTC')
      AND t.block_number <= {upTo:UInt64}
    GROUP BY pair, minute
  )
  SELECT pair, minute, hour_usd - usd AS before_usd, day_usd - hour_usd AS past_usd,
    greatest(${BREAKOUT.leastHourUsd}, ${BREAKOUT.shareOfPast} * past_usd) AS level_usd
  FROM (
    SELECT pair, minute, usd,
      sum(usd) OVER (PARTITION BY pair ORDER BY minute RANGE BETWEEN 1439 PRECEDING AND CURRENT ROW) AS day_usd,
      sum(usd) OVER (PARTITION BY pair, intDiv(minute, 60) ORDER BY minute ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS hour_usd
    FROM minutes
  )
  WHERE minute * 60 + 59 > {from:UInt32} AND past_usd >= ${BREAKOUT.leastPastUsd} AND hour_usd >= level_usd AND before_usd < level_usd`

const TRADES_OF_MINUTES = `
  SELECT t.pair AS pair, toUInt32(t.time) AS time_s, t.block_number AS block_number,
    ${TRADE_COLUMNS.map((name) => `t.${name} AS ${name}`).join(', ')}
  FROM trade_rows AS t FINAL
  WHERE t.chain = {chain:String} AND t.pair IN {pairs:Array(String)} AND t.time >= toDateTime({since:UInt32}, 'UTC')
    AND t.block_number <= {upTo:UInt64}
    AND has({minutes:Array(String)}, concat(t.pair, '/', toString(intDiv(toUInt32(t.time), 60))))`
