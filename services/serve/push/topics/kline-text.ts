/**
 * A candle as JSON text. A trade changes ten candles of its pair, so what only the pair decides is kept, and the day's
 * figures are written once for all candles of an entry.
 */
import { INTERVALS } from '../../../core/domain/chains.js'
import { AT, figureOf, type PackedCandle } from '../../../core/domain/packed-candles.js'
import { windowOf } from '../../../core/domain/packed-windows.js'
import { pushedInterval } from '../../history/candle-bars.js'
import type { PairState } from '../../memory/served-chain.js'
import { changeOrEmpty, decimalOrEmpty, quotedText } from '../../views/field-formats.js'
import { changeOver } from '../../views/pair-view.js'
import { perPair } from '../per-pair.js'
import type { PairAt } from '../update-snapshot.js'

/** Flags of a candle push: `corrected` and `removed` after a reorg, `final` on close. */
export type KlineMarks = { corrected?: true; removed?: true; final?: true; snapshot?: true }

/** The `result` of a `kline` push. */
export function klineResult(at: PairAt, candle: PackedCandle, marks: KlineMarks, cursor: string): string {
  const { data, at: start } = candle
  const figure = (n: number) => decimalOrEmpty(data[start + n] as number)
  const time = figureOf(candle, AT.timeS)
  const day = dayOf(at.pair)
  return [
    beginningsOf(at)[figureOf(candle, AT.interval)] ?? '',
    figure(AT.openM),
    '","high":"',
    figure(AT.highM),
    '","low":"',
    figure(AT.lowM),
    '","close":"',
    figure(AT.closeM),
    '","volume":"',
    figure(AT.volumeM),
    '","time":',
    time,
    '},"usd":{"open":"',
    figure(AT.openU),
    '","high":"',
    figure(AT.highU),
    '","low":"',
    figure(AT.lowU),
    '","close":"',
    figure(AT.closeU),
    '","volume":"',
    figure(AT.volumeU),
    day.amount,
    changeOrEmpty(figureOf(candle, AT.openU), figureOf(candle, AT.closeU)),
    day.others,
    time,
    '}},"topic":"kline"',
    marksText(marks),
    ',"cursor":"',
    cursor,
    '"}',
  ].join('')
}

/** Up to the first figure, by interval. */
const beginningsOf = perPair(({ chain, pair: { pair } }) =>
  INTERVALS.map(
    (interval) =>
      `{"id":${quotedText(`${pair}-${chain}`)},"interval":"${pushedInterval(interval)}","kline":{"eth":{"open":"`,
  ),
)

type DayText = { of: PairState; amount: string; others: string }
let lastDay: DayText | undefined

/** Figures of the day around the candle's change. Candles of a pair come one after the other. */
function dayOf(pair: PairState): DayText {
  if (lastDay?.of === pair) return lastDay
  const day = windowOf(pair.windows, '24h')
  const others = [
    `","change_v2":"${decimalOrEmpty(changeOver(pair, day))}","count_24h":"${day.buys + day.sells}`,
    `","high_24h":"${decimalOrEmpty(day.high)}","low_24h":"${decimalOrEmpty(day.low)}","swap":"`,
    `","volume_24h":"${decimalOrEmpty(day.buy_volume + day.sell_volume)}","time":`,
  ]
  lastDay = { of: pair, amount: `","amount_24h":"${decimalOrEmpty(day.amount)}","change":"`, others: others.join('') }
  return lastDay
}

/** In the order they are given in. */
function marksText(marks: KlineMarks): string {
  let text = ''
  for (const mark of Object.keys(marks)) text += `,"${mark}":true`
  return text
}
