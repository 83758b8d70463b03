import { bucketStart } from '../../core/domain/buckets.js'
import { INTERVALS } from '../../core/domain/chains.js'
import type { Store } from '../../core/store/port.js'
import type { ChainState } from './chain-state.js'
import { packCandle, type ToldFigures } from './packed-candle.js'

const PAGE_ROWS = 20_000
const LIMITS = { maxRows: PAGE_ROWS, maxSeconds: 60 }
const FIGURES = ['u', 'm'].flatMap((c) => ['open', 'high', 'low', 'close', 'volume'].map((f) => `${f}_${c}`))

type Row = { pair: string; interval: string; time_s: number } & Record<string, number | string | null>

/** Holds the candles whose buckets were open at a chain time, as the store has them: updates after it bring their changes. */
export async function loadOpenCandles(store: Store, state: ChainState, nowS: number): Promise<void> {
  state.open.clear()
  for (const [index, interval] of INTERVALS.entries()) {
    const startS = bucketStart(index, nowS)
    for await (const row of candleRows(store, state.chain, interval, startS)) {
      const figures = Object.fromEntries(FIGURES.map((name) => [name, Number(row[name] ?? Number.NaN)]))
      const told = { ...figures, interval, time: startS, removed: false } as ToldFigures
      state.open.hold({ pair: row.pair, candle: packCandle(told) })
    }
  }
}

async function* candleRows(store: Store, chain: string, interval: string, startS: number): AsyncGenerator<Row> {
  let after = ''
  for (;;) {
    const rows = await store.query<Row>(
      `SELECT pair, ${FIGURES.join(', ')} FROM candle_rows FINAL
       WHERE chain = {chain:String} AND interval = {interval:String} AND time = toDateTime({start:UInt32}, 'UTC')
         AND pair > {after:String} ORDER BY pair LIMIT {limit:UInt32}`,
      { chain, interval, start: Math.max(0, startS), after, limit: PAGE_ROWS },
      LIMITS,
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = last.pair
  }
}
