import { bucketStart } from '../../core/domain/buckets.js'
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import type { Store } from '../../core/store/port.js'
import { rowVersion } from '../../core/store/tables.js'
import type { ChainState } from './served-chain.js'
import { packCandle, type ToldFigures } from './packed-candle.js'

const PAGE_ROWS = 20_000
const LIMITS = { maxRows: PAGE_ROWS, maxSeconds: 60 }
const FIGURES = ['u', 'm'].flatMap((c) => ['open', 'high', 'low', 'close', 'volume'].map((f) => `${f}_${c}`))

type Row = { pair: string; interval: Interval } & Record<string, number | string | null>

/** An update, as far as it matters which candles were open after it. */
export type OpenAt = { epoch: number; seq: number; now: number }

/** Holds the open candles an update left behind, as the store has them. Those changed since come with their own updates. */
export async function loadOpenCandles(store: Store, state: ChainState, at: OpenAt): Promise<void> {
  state.open.clear()
  const starts = new Map(INTERVALS.map((interval, index) => [interval, Math.max(0, bucketStart(index, at.now))]))
  for await (const { pair, interval, ...row } of candleRows(store, state.chain, starts, at)) {
    const figures = Object.fromEntries(FIGURES.map((name) => [name, Number(row[name] ?? Number.NaN)]))
    const told = { ...figures, interval, time: starts.get(interval) ?? 0, removed: false } as ToldFigures
    state.open.hold({ pair, candle: packCandle(told) })
  }
}

async function* candleRows(
  store: Store,
  chain: string,
  starts: ReadonlyMap<Interval, number>,
  at: OpenAt,
): AsyncGenerator<Row> {
  const version = String(rowVersion(at.epoch, at.seq))
  const buckets = [...starts].map(([interval, startS]) => `('${interval}', ${startS})`).join(', ')
  const from = Math.min(...starts.values())
  let after = { pair: '', interval: '' }
  for (;;) {
    const rows = await store.query<Row>(
      `SELECT pair, interval, ${FIGURES.join(', ')} FROM candle_rows FINAL
       WHERE chain = {chain:String} AND time >= toDateTime({from:UInt32}, 'UTC')
         AND (interval, toUInt32(time)) IN (${buckets}) AND version <= {version:UInt64}
         AND pair >= {pair:String} AND (pair, interval) > ({pair:String}, {interval:String})
       ORDER BY pair, interval LIMIT {limit:UInt32}`,
      { chain, from, version, ...after, limit: PAGE_ROWS },
      LIMITS,
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = { pair: last.pair, interval: last.interval }
  }
}
