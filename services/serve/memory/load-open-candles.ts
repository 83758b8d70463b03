import { bucketStart } from '../../core/domain/buckets.js'
import { INTERVALS } from '../../core/domain/chains.js'
import type { Store } from '../../core/store/port.js'
import type { ChainState } from './chain-state.js'
import { packCandle, type ToldFigures } from './packed-candle.js'

const PAGE_ROWS = 20_000
const LIMITS = { maxRows: PAGE_ROWS, maxSeconds: 60 }
const FIGURES = ['u', 'm'].flatMap((c) => ['open', 'high', 'low', 'close', 'volume'].map((f) => `${f}_${c}`))

type Row = { pair: string } & Record<string, number | string | null>

/** Row versions are epoch × 2^40 + seq of the update that last changed a row. */
const SEQS_PER_EPOCH = 2 ** 40

/** An update, as far as it matters which candles were open after it. */
export type OpenAt = { epoch: number; seq: number; now: number }

/** Holds the open candles an update left behind, as the store has them. Those changed since come with their own updates. */
export async function loadOpenCandles(store: Store, state: ChainState, at: OpenAt): Promise<void> {
  state.open.clear()
  for (const [index, interval] of INTERVALS.entries()) {
    const startS = bucketStart(index, at.now)
    for await (const row of candleRows(store, { chain: state.chain, interval, startS, at })) {
      const figures = Object.fromEntries(FIGURES.map((name) => [name, Number(row[name] ?? Number.NaN)]))
      const told = { ...figures, interval, time: startS, removed: false } as ToldFigures
      state.open.hold({ pair: row.pair, candle: packCandle(told) })
    }
  }
}

type Wanted = { chain: string; interval: string; startS: number; at: OpenAt }

async function* candleRows(store: Store, { chain, interval, startS, at }: Wanted): AsyncGenerator<Row> {
  const version = String(at.epoch * SEQS_PER_EPOCH + at.seq)
  let after = ''
  for (;;) {
    const rows = await store.query<Row>(
      `SELECT pair, ${FIGURES.join(', ')} FROM candle_rows FINAL
       WHERE chain = {chain:String} AND interval = {interval:String} AND time = toDateTime({start:UInt32}, 'UTC')
         AND version <= {version:UInt64} AND pair > {after:String} ORDER BY pair LIMIT {limit:UInt32}`,
      { chain, interval, version, start: Math.max(0, startS), after, limit: PAGE_ROWS },
      LIMITS,
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = last.pair
  }
}
