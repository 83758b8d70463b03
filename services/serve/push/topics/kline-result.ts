import { Type } from '@sinclair/typebox'
import { INTERVALS } from '../../../core/domain/chains.js'
import { pushedInterval } from '../../history/intervals.js'
import { AT, figureOf, intervalOf, type PackedCandle } from '../../memory/packed-candle.js'
import { windowOf } from '../../memory/windows.js'
import { changeOrEmpty, decimalOrEmpty, fieldsOf, int, text } from '../../views/field-formats.js'
import { changeOver } from '../../views/pair-view.js'
import type { PairSnapshot } from '../update-snapshot.js'

const mark = Type.Optional(Type.Literal(true))

export const KlineResult = Type.Object({
  id: Type.String({ description: '<pair_address>-<chain>' }),
  interval: Type.Union(INTERVALS.map((name) => Type.Literal(pushedInterval(name)))),
  kline: Type.Object({
    eth: Type.Object({ ...fieldsOf(['open', 'high', 'low', 'close', 'volume'], text), time: int }),
    usd: Type.Object({
      ...fieldsOf(['open', 'high', 'low', 'close', 'volume', 'amount_24h', 'change', 'change_v2', 'count_24h'], text),
      ...fieldsOf(['high_24h', 'low_24h', 'swap', 'volume_24h'], text),
      time: int,
    }),
  }),
  topic: Type.Literal('kline'),
  ...fieldsOf(['corrected', 'removed', 'final', 'snapshot'], mark),
  cursor: text,
})

/** Flags of a candle push: `corrected` and `removed` after a reorg, `final` on close. */
export type KlineMarks = { corrected?: true; removed?: true; final?: true; snapshot?: true }

export function klineResult(
  { chain, pair }: PairSnapshot,
  candle: PackedCandle,
  marks: KlineMarks,
  cursor: string,
): string {
  const day = windowOf(pair.windows, '24h')
  const figure = (at: number) => decimalOrEmpty(figureOf(candle, at))
  const time = figureOf(candle, AT.timeS)
  return JSON.stringify({
    id: `${pair.pair}-${chain}`,
    interval: pushedInterval(intervalOf(candle)),
    kline: {
      eth: {
        open: figure(AT.openM),
        high: figure(AT.highM),
        low: figure(AT.lowM),
        close: figure(AT.closeM),
        volume: figure(AT.volumeM),
        time,
      },
      usd: {
        open: figure(AT.openU),
        high: figure(AT.highU),
        low: figure(AT.lowU),
        close: figure(AT.closeU),
        volume: figure(AT.volumeU),
        amount_24h: decimalOrEmpty(day.amount),
        change: changeOrEmpty(figureOf(candle, AT.openU), figureOf(candle, AT.closeU)),
        change_v2: decimalOrEmpty(changeOver(pair, day)),
        count_24h: String(day.buys + day.sells),
        high_24h: decimalOrEmpty(day.high),
        low_24h: decimalOrEmpty(day.low),
        swap: '',
        volume_24h: decimalOrEmpty(day.buy_volume + day.sell_volume),
        time,
      },
    },
    topic: 'kline',
    ...marks,
    cursor,
  })
}
