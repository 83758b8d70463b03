/** Every candle of the store against the reference recomputation. */
import { openStore, type StoreTarget } from '../../../services/core/store/clickhouse-store.js'
import { TABLES } from '../../../services/core/store/tables.js'
import { known } from '../http/stored.js'
import { differences } from '../reference/compare.js'
import type { Reference } from '../reference/recompute.js'

const LIMITS = { maxRows: 1_000_000, maxSeconds: 60 }
const KEYS = ['chain', 'pair', 'interval', 'time', 'version', 'is_deleted']

export async function candleDifferences(target: StoreTarget, { chain, candles }: Reference): Promise<string[]> {
  const values = TABLES.candle_rows.filter((column) => !KEYS.includes(column))
  const store = await openStore(target)
  try {
    const rows = await store.query<Record<string, unknown>>(
      `SELECT pair, interval, toUInt32(time) AS at, ${values.join(', ')} FROM candle_rows FINAL WHERE chain = {chain:String}`,
      { chain },
      LIMITS,
    )
    const stored = rows.map(
      ({ pair, interval, at, ...row }) =>
        [
          `${pair}|${interval}|${at}`,
          Object.fromEntries(values.map((column) => [column, known(row[column])])),
        ] as const,
    )
    return differences(new Map(stored), candles)
  } finally {
    await store.close()
  }
}
