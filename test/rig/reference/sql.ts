/**
 * A second check of candles and windows: ClickHouse queries over raw trades with the columns of `trade_rows`. They take
 * each trade's prices and flags as given and recompute everything derived from them.
 */
import { type Interval, WINDOWS } from '../../../services/core/domain/chains.js'
import { TABLES } from '../../../services/core/store/tables.js'
import { bucketStart, INTERVAL_SECONDS } from './candles.js'
import type { Reference } from './recompute.js'
import { WINDOW_BUCKETS } from './windows.js'

export type TradesSource = {
  /** A table, or a subquery in parentheses, with each trade once and no deleted ones. */
  from: string
  chain: string
  /** Raw amounts in the rows need decimals, which apply only from the event that has them. */
  decimals: readonly PairDecimals[]
}

type Since = { decimals: number; since: readonly [block: number, tx: number, log: number, sub: number] } | null
export type PairDecimals = { pair: string; quote: Since; target: Since }

export const STORED_TRADES = '(SELECT * FROM trade_rows FINAL WHERE is_deleted = 0)'

export type SqlCandle = {
  pair: string
  time: number
  open: number
  first: number | null
  high: number
  low: number
  close: number
  volume: number
}

/** The candles of one interval in one currency, as rows of SqlCandle; a bucket without an open has no row. */
export function candlesSql(source: TradesSource, interval: Interval, currency: 'u' | 'm' | 'r'): string {
  const price = { u: 'price_usd', m: 'price_native', r: 'price_quote' }[currency]
  const amount = { u: 'amount_usd', m: 'amount_native', r: 'quote_amount' }[currency]
  const seconds = INTERVAL_SECONDS[interval]
  const offset = bucketStart(interval, 10 * seconds) % seconds
  return `
WITH ${tradesCte(source)},
buckets AS (
  SELECT
    pair,
    intDiv(at - ${offset}, ${seconds}) * ${seconds} + ${offset} AS bucket,
    argMinIf(${price}, position, good AND ${price} IS NOT NULL) AS first_price,
    argMaxIf(${price}, position, good AND ${price} IS NOT NULL) AS last_price,
    maxIf(${price}, good) AS highest,
    minIf(${price}, good) AS lowest,
    ifNull(sum(${amount}), 0) AS volume
  FROM trades
  GROUP BY pair, bucket
),
carried AS (
  SELECT
    *,
    last_value(last_price) IGNORE NULLS OVER (
      PARTITION BY pair ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS previous_close,
    coalesce(previous_close, first_price) AS open_price
  FROM buckets
)
SELECT
  pair,
  toUInt32(bucket) AS time,
  open_price AS open,
  first_price AS first,
  greatest(open_price, ifNull(highest, open_price)) AS high,
  least(open_price, ifNull(lowest, open_price)) AS low,
  ifNull(last_price, previous_close) AS close,
  volume
FROM carried
WHERE open_price IS NOT NULL
ORDER BY pair, time`
}

/** The six windows of every pair that ever traded, at `now`: columns as in records.ts Window, with pair and window. */
export function windowsSql(source: TradesSource, now: number): string {
  const windows = WINDOWS.map((name) => `('${name}', ${WINDOW_BUCKETS[name].bucketS}, ${WINDOW_BUCKETS[name].count})`)
  return `
WITH ${tradesCte(source)},
windows AS (SELECT * FROM values('window String, bucket_s Int64, buckets Int64', ${windows.join(', ')})),
placed AS (
  SELECT
    *,
    intDiv(at, bucket_s) AS bucket,
    bucket > intDiv(toInt64(${now}), bucket_s) - buckets AS inside
  FROM trades CROSS JOIN windows
)
SELECT
  pair,
  window,
  ifNull(sumIf(amount_usd, inside AND NOT sell), 0) AS buy_volume,
  ifNull(sumIf(amount_usd, inside AND sell), 0) AS sell_volume,
  toUInt32(countIf(inside AND NOT sell)) AS buys,
  toUInt32(countIf(inside AND sell)) AS sells,
  toUInt32(uniqExactIf(wallet, inside AND NOT sell AND wallet != '')) AS buyers,
  toUInt32(uniqExactIf(wallet, inside AND sell AND wallet != '')) AS sellers,
  toUInt32(uniqExactIf(wallet, inside AND wallet != '')) AS makers,
  ifNull(sumIf(target_amount, inside), 0) AS amount,
  maxIf(price_usd, inside AND good) AS high,
  minIf(price_usd, inside AND good) AS low,
  argMaxIf(price_usd, (bucket, position), good AND NOT inside) AS price_before
FROM placed
GROUP BY pair, window
ORDER BY pair, window`
}

/** Trades with their amounts and their place in event order. */
function tradesCte({ from, chain, decimals }: TradesSource): string {
  const side = (known: Since): string =>
    known === null ? 'NULL, (0, 0, 0, 0)' : `${known.decimals}, (${known.since.join(', ')})`
  const rows = decimals.map(({ pair, quote, target }) => `('${pair}', ${side(quote)}, ${side(target)})`)
  const position = 'Tuple(UInt64, UInt64, UInt64, UInt64)'
  const columns = `pair String, quote_decimals Nullable(UInt8), quote_since ${position}, target_decimals Nullable(UInt8), target_since ${position}`
  return `pair_decimals AS (SELECT * FROM values('${columns}', ${rows.join(', ')})),
trades AS (
  SELECT
    toString(raw.pair) AS pair,
    toInt64(raw.time) AS at,
    CAST((raw.block_number, raw.tx_index, raw.log_index, raw.sub), '${position}') AS position,
    raw.flags = 0 AS good,
    toBool(raw.sell) AS sell,
    toString(raw.wallet) AS wallet,
    if(isNaN(raw.price_usd), NULL, raw.price_usd) AS price_usd,
    if(isNaN(raw.price_native), NULL, raw.price_native) AS price_native,
    if(isNaN(raw.price_quote), NULL, raw.price_quote) AS price_quote,
    if(isNaN(raw.amount_usd), NULL, raw.amount_usd) AS amount_usd,
    if(isNaN(raw.amount_native), NULL, raw.amount_native) AS amount_native,
    toFloat64(if(sell, raw.amount_out, raw.amount_in)) / if(position > quote_since, exp10(quote_decimals), NULL) AS quote_amount,
    toFloat64(if(sell, raw.amount_in, raw.amount_out)) / if(position > target_since, exp10(target_decimals), NULL) AS target_amount
  FROM ${from} AS raw
  INNER JOIN pair_decimals ON pair_decimals.pair = toString(raw.pair)
  WHERE raw.chain = '${chain}'
)`
}

/** What the queries need to know about each pair besides the rows. */
export function pairDecimalsOf(reference: Reference): PairDecimals[] {
  const known = (token: string): Since => {
    const decimals = reference.tokens.get(token)?.decimals ?? null
    const since = reference.decimalsSince.get(token)
    if (decimals === null || since === undefined) return null
    return { decimals, since: [since.block_number, since.tx_index, since.log_index, since.sub] }
  }
  return [...reference.pairs].map(([pair, { quote_token, target_token }]) => {
    return { pair, quote: known(quote_token), target: known(target_token) }
  })
}

/** The reference's trades as rows of `trade_rows`: one JSON array per line, null for unknown numbers. */
export function tradeLines(reference: Reference): string {
  const lines = reference.trades.map((trade) => {
    const row: Record<string, unknown> = { ...trade, chain: reference.chain, version: 1, is_deleted: 0 }
    return JSON.stringify(TABLES.trade_rows.map((column) => row[column]))
  })
  return lines.map((line) => `${line}\n`).join('')
}
