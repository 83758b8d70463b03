import { Type } from '@sinclair/typebox'
import { INTERVALS, type Interval } from '../../../core/domain/chains.js'
import {
  AT,
  CANDLE_WIDTH,
  endAt,
  figureOf,
  intervalOf,
  isRemoved,
  type PackedCandle,
} from '../../../core/domain/packed-candles.js'
import { pushedInterval } from '../../history/candle-bars.js'
import { fieldsOf, int, text } from '../../views/field-formats.js'
import { channelsOf, klineChannel } from '../channels.js'
import { pairRefills } from '../gap-notices.js'
import {
  badParams,
  ChainParam,
  canonicalOf,
  IntervalParam,
  PairParam,
  readCount,
  readEach,
  readInterval,
  readMaxItems,
  readPairAddress,
} from '../params.js'
import type { EntryPusher, ParseContext, PushContext, SubscriptionSpec, Topic } from '../topic.js'
import { type PairAt, snapshotPair, type UpdateSnapshot } from '../update-snapshot.js'
import { type KlineMarks, klineResult } from './kline-text.js'

const mark = Type.Optional(Type.Literal(true))

const KlineResult = Type.Object({
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

export const kline: Topic = {
  name: 'kline',
  summary: 'Candles of a pair, on every change and on close',
  params: Type.Tuple([PairParam, IntervalParam, ChainParam]),
  result: KlineResult,
  onSlow: 'conflate',
  parse(args, context) {
    readCount(args, ['a pair address', 'an interval', 'a chain'], 'kline')
    return specOf('kline', [readKlineItem(args, context)], context)
  },
}

export type KlineItem = { pair: string; interval: Interval; chain: string }

/** Parses `[pair address, interval, chain]`. */
export function readKlineItem(item: readonly unknown[], context: ParseContext): KlineItem {
  const { address, chain } = readPairAddress(context, item[0], item[2])
  return { pair: address, interval: readInterval(item[1]), chain }
}

export function specOf(topic: string, items: readonly KlineItem[], context: ParseContext): SubscriptionSpec {
  const byChannel = new Map(items.map((item) => [klineChannel(item.pair, item.interval, item.chain), item]))
  const series = [...byChannel.values()]
  const channels = [...byChannel.keys()]
  return {
    canonical: canonicalOf(topic, channels),
    channels,
    chains: [...new Set(series.map(({ chain }) => chain))],
    refills: (wanted) =>
      series.flatMap(({ pair, interval, chain }) =>
        chain === wanted ? pairRefills('/v2/klines/pair', pair, chain, { interval: pushedInterval(interval) }) : [],
      ),
    snapshot: (cursorAt) =>
      series.flatMap(({ pair, interval, chain }) => {
        const candle = context.chains.market(chain)?.state.open.get(pair, interval)
        const at = snapshotPair(context.chains.market(chain), pair)
        if (candle === undefined || at === undefined) return []
        return [klineResult(at, candle, { snapshot: true }, cursorAt(chain))]
      }),
  }
}

export const pushKlines: EntryPusher = (context, { at, candles }, n) => {
  for (let start = 0, number = n; start < candles.length; start += CANDLE_WIDTH, number += 1) {
    const candle = { data: candles, at: start }
    pushKline(context, at, candle, marksOf(context.update, candle), number)
  }
}

export function pushKline(
  { out, cursor }: PushContext,
  at: PairAt,
  candle: PackedCandle,
  marks: KlineMarks,
  n: number,
): void {
  const channels = channelsOf(at).kline[intervalOf(candle)]
  const wanted = channels.filter(out.isWanted)
  if (wanted.length === 0) return
  const result = klineResult(at, candle, marks, cursor(n))
  const mergeKey = `${channels[0]}@${figureOf(candle, AT.timeS)}`
  out.publish(wanted, { topic: 'kline', n, result, mergeKey, sentTime: true })
}

function marksOf({ kind, nowS }: UpdateSnapshot, candle: PackedCandle): KlineMarks {
  if (isRemoved(candle)) return { removed: true }
  return {
    ...(kind === 'retract' ? { corrected: true } : {}),
    ...(endAt(candle.data, candle.at) <= nowS ? { final: true } : {}),
  }
}

export const multiKline: Topic = {
  name: 'multi_kline',
  summary: 'Candles of several pairs in one subscription; pushes have topic kline',
  params: Type.Array(kline.params, { minItems: 1 }),
  result: KlineResult,
  onSlow: 'conflate',
  parse(args, context) {
    if (args.length === 0) throw badParams('multi_kline expects one or more arrays [pair address, interval, chain].')
    readMaxItems(context, args.length)
    const { items, unknown: leftOut } = readEach(args, (item) => {
      if (Array.isArray(item) && item.length === 3) return readKlineItem(item, context)
      throw badParams('Each item of multi_kline must be an array [pair address, interval, chain].')
    })
    return { ...specOf('multi_kline', items, context), leftOut }
  },
}
