/** The text put together for a candle is the one JSON.stringify gives for its fields. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { INTERVALS } from '../../../services/core/domain/chains.js'
import { AT, CANDLE_WIDTH } from '../../../services/core/domain/packed-candles.js'
import { WINDOWS_LENGTH, type Window, windowOf } from '../../../services/core/domain/packed-windows.js'
import { pushedInterval } from '../../../services/serve/history/candle-bars.js'
import { PairState } from '../../../services/serve/memory/served-chain.js'
import { type KlineMarks, klineResult } from '../../../services/serve/push/topics/kline-text.js'
import { changeOrEmpty, decimalOrEmpty } from '../../../services/serve/views/field-formats.js'
import { changeOver } from '../../../services/serve/views/pair-view.js'
import { pairInfo, pairUpdate, tokenInfo } from '../updates.js'

const CURSOR = '1:eth:2:3'
const anyText = fc.string({ unit: 'binary' })
const anyMarks = fc.constantFrom<KlineMarks>(
  {},
  { removed: true },
  { corrected: true, final: true },
  { snapshot: true },
)

type Given = { pair: string; chain: string; interval: number; figures: number[]; windows: number[]; marks: KlineMarks }

it('equals the JSON of its fields, for any texts and figures', () => {
  const given = fc.record({
    ...{ pair: anyText, chain: anyText, marks: anyMarks },
    interval: fc.nat({ max: INTERVALS.length - 1 }),
    figures: fc.array(fc.double(), { minLength: CANDLE_WIDTH, maxLength: CANDLE_WIDTH }),
    windows: fc.array(fc.double(), { minLength: WINDOWS_LENGTH, maxLength: WINDOWS_LENGTH }),
  })
  fc.assert(
    fc.property(given, (values) => {
      const { at, candle } = candleOf(values)
      const expected = expectedOf(values)
      // The second time what is kept of the pair is used.
      expect([klineResult(at, candle, values.marks, CURSOR), klineResult(at, candle, values.marks, CURSOR)]).toEqual([
        expected,
        expected,
      ])
    }),
  )
})

function candleOf({ pair, chain, interval, figures, windows }: Given) {
  const data = new Float64Array(figures)
  data[AT.interval] = interval
  data[AT.timeS] = 1_700_000_000
  const state = PairState.of({ ...pairUpdate({ pair }), windows: new Float64Array(windows) }, pairInfo(), 0)
  const at = { chain, nowS: 0, pair: state, info0: tokenInfo(), info1: tokenInfo(), isMainPair: false }
  return { at, candle: { data, at: 0 } }
}

function expectedOf(values: Given): string {
  const { at, candle } = candleOf(values)
  const day: Window = windowOf(at.pair.windows, '24h')
  const figure = (n: number) => decimalOrEmpty(candle.data[n] ?? Number.NaN)
  const time = candle.data[AT.timeS]
  return JSON.stringify({
    id: `${values.pair}-${values.chain}`,
    interval: pushedInterval(INTERVALS[values.interval] ?? ''),
    kline: {
      eth: {
        ...{ open: figure(AT.openM), high: figure(AT.highM), low: figure(AT.lowM), close: figure(AT.closeM) },
        ...{ volume: figure(AT.volumeM), time },
      },
      usd: {
        ...{ open: figure(AT.openU), high: figure(AT.highU), low: figure(AT.lowU), close: figure(AT.closeU) },
        ...{ volume: figure(AT.volumeU), amount_24h: decimalOrEmpty(day.amount) },
        change: changeOrEmpty(candle.data[AT.openU] ?? Number.NaN, candle.data[AT.closeU] ?? Number.NaN),
        ...{ change_v2: decimalOrEmpty(changeOver(at.pair, day)), count_24h: String(day.buys + day.sells) },
        ...{ high_24h: decimalOrEmpty(day.high), low_24h: decimalOrEmpty(day.low), swap: '' },
        ...{ volume_24h: decimalOrEmpty(day.buy_volume + day.sell_volume), time },
      },
    },
    topic: 'kline',
    ...values.marks,
    cursor: CURSOR,
  })
}
