import { afterAll, beforeAll, expect, test } from 'vitest'
import { INTERVALS, WINDOWS } from '../../services/core/domain/chains.js'
import type { Window } from '../../services/core/domain/packed-windows.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { differences } from '../rig/reference/compare.js'
import { type Reference, recompute } from '../rig/reference/recompute.js'
import {
  candlesSql,
  pairDecimalsOf,
  type SqlCandle,
  type TradesSource,
  tradeLines,
  windowsSql,
} from '../rig/reference/sql.js'
import { openScratchEngine, type ScratchEngine } from './scratch-engine.js'

let engine: ScratchEngine
let reference: Reference
let source: TradesSource

beforeAll(async () => {
  engine = await openScratchEngine()
  const options = { retracts: { probability: 0.04, maxDepth: 8 } }
  reference = recompute(generateRecording({ seed: 11, chain: 'eth', blocks: 300, options }), marketMoney('eth'))
  const table = await engine.loadTrades(tradeLines(reference))
  source = { from: `(SELECT * FROM ${table} FINAL)`, chain: 'eth', decimals: pairDecimalsOf(reference) }
}, 60_000)

afterAll(() => engine.close())

test.each(INTERVALS)('%s candles by SQL window functions equal those grouped in JavaScript', async (interval) => {
  for (const currency of ['u', 'm', 'r'] as const) {
    const rows = await engine.rows<SqlCandle>(candlesSql(source, interval, currency))
    const got = new Map(
      rows.map(({ pair, time, ...bars }) => [
        `${pair}|${interval}|${time}`,
        { ...bars, first: bars.first ?? Number.NaN },
      ]),
    )
    const expected = new Map(
      [...reference.candles]
        .filter(([key, candle]) => key.split('|')[1] === interval && !Number.isNaN(candle[`open_${currency}`]))
        .map(([key, candle]) => [
          key,
          {
            open: candle[`open_${currency}`],
            first: candle[`first_${currency}`],
            high: candle[`high_${currency}`],
            low: candle[`low_${currency}`],
            close: candle[`close_${currency}`],
            volume: candle[`volume_${currency}`],
          },
        ]),
    )
    expect(expected.size).toBeGreaterThan(0)
    expect(differences(got, expected)).toEqual([])
  }
})

test('windows by SQL equal those filtered in JavaScript', async () => {
  type Row = { pair: string; window: string } & { [K in keyof Window]: number | null }
  const rows = await engine.rows<Row>(windowsSql(source, reference.now))
  const got = new Map(rows.map(({ pair, window, ...values }) => [`${pair} ${window}`, values]))
  const unknownIsNull = (window: Window | undefined): object =>
    Object.fromEntries(
      Object.entries(window ?? {}).map(([field, value]) => [field, Number.isNaN(value) ? null : value]),
    )
  const expected = new Map(
    [...reference.pairs]
      .filter(([, pair]) => pair.tx_count > 0)
      .flatMap(([name, pair]) =>
        WINDOWS.map((window, at) => [`${name} ${window}`, unknownIsNull(pair.windows[at])] as const),
      ),
  )
  expect(expected.size).toBeGreaterThan(100)
  expect(differences(got, expected)).toEqual([])
})
