/** Reads the store of a stopped `up`, row by row. Unknown numbers are null. */
import { INTERVALS } from '../../../services/core/domain/chains.js'
import type { Store } from '../../../services/core/store/port.js'
import { differences } from '../reference/compare.js'
import type { Reference } from '../reference/recompute.js'
import { candlesSql, pairDecimalsOf, type SqlCandle, STORED_TRADES, type TradesSource } from '../reference/sql.js'

const LIMITS = { maxRows: 1_000_000, maxSeconds: 60 }

export const rowsOf = <Row>(store: Store, sql: string): Promise<Row[]> => store.query<Row>(sql, {}, LIMITS)

export const known = (value: unknown): number => (value === null ? Number.NaN : Number(value))

export const TRADE_VALUES = [
  ...(['price_usd', 'price_native', 'price_quote', 'quote_usd', 'quote_native'] as const),
  ...(['amount_usd', 'amount_native'] as const),
]
const TRADE_NUMBERS = [
  ...TRADE_VALUES,
  ...(['block_number', 'tx_index', 'log_index', 'sub', 'tx_seq', 'flags'] as const),
]
const TRADE_TEXTS = ['tx_hash', 'id', 'sender', 'recipient', 'wallet', 'amount_in', 'amount_out', 'quote_path'] as const

export async function tradeDifferences(store: Store, reference: Reference): Promise<string[]> {
  type Row = Record<string, unknown>
  const rows = await rowsOf<Row>(
    store,
    `SELECT *, toUInt32(time) AS at FROM trade_rows FINAL WHERE chain = '${reference.chain}' AND is_deleted = 0`,
  )
  const pick = (row: Row): object => ({
    ...Object.fromEntries(TRADE_NUMBERS.map((field) => [field, known(row[field])])),
    ...Object.fromEntries(TRADE_TEXTS.map((field) => [field, row[field]])),
    ...{ time: Number(row.at), sell: Number(row.sell) === 1, reserve0: row.reserve0, reserve1: row.reserve1 },
  })
  const got = new Map(rows.map((row) => [`${String(row.pair)} ${String(row.id)}`, pick(row)]))
  const expected = new Map(
    reference.trades.map(({ pair, target_amount: _, quote_amount: __, reserve0, reserve1, ...trade }) => [
      `${pair} ${trade.id}`,
      { ...trade, reserve0: reserve0 ?? '', reserve1: reserve1 ?? '' },
    ]),
  )
  return [...differences(rows.length, reference.trades.length, 'rows'), ...differences(got, expected)]
}

export const tradesSource = (reference: Reference): TradesSource => ({
  ...{ from: STORED_TRADES, chain: reference.chain, decimals: pairDecimalsOf(reference) },
})

/** Compares stored candles with candles that SQL computes from the stored trades, for every interval and currency. */
export async function storedCandleDifferences(store: Store, reference: Reference): Promise<string[]> {
  const found: string[] = []
  for (const interval of INTERVALS) {
    for (const currency of ['u', 'm', 'r'] as const) {
      const columns = ['open', 'first', 'high', 'low', 'close', 'volume'].map(
        (name) => `${name}_${currency} AS ${name}`,
      )
      const stored = await rowsOf<SqlCandle>(
        store,
        `SELECT pair, toUInt32(candle_rows.time) AS time, ${columns.join(', ')} FROM candle_rows FINAL
         WHERE chain = '${reference.chain}' AND interval = '${interval}' AND is_deleted = 0 AND NOT isNaN(open)`,
      )
      const made = await rowsOf<SqlCandle>(store, candlesSql(tradesSource(reference), interval, currency))
      if (made.length === 0) found.push(`${interval} ${currency}: nothing to compare`)
      found.push(...differences(byBucket(stored), byBucket(made), `${interval} ${currency}`))
    }
  }
  return found
}

const byBucket = (rows: readonly SqlCandle[]): Map<string, object> =>
  new Map(rows.map(({ pair, time, ...bars }) => [`${pair} ${time}`, bars]))
