import type { Candle } from '../../../core/domain/records.js'
import { candleEndS, pushedInterval } from '../../candles/intervals.js'
import type { PairState } from '../../memory/chain-state.js'
import { changeOrEmpty } from '../../numbers/change.js'
import { decimalOrEmpty } from '../../numbers/plain-decimal.js'
import type { Market } from '../../views/market.js'
import { changeOver, pairWindow } from '../../views/pair-windows.js'
import type { OpenCandles } from '../open-candles.js'
import { readAddress, readCount, readInterval } from '../params.js'
import type { PairPusher, ParseContext, Topic } from '../topic.js'

export const kline: Topic = {
  name: 'kline',
  onSlow: 'conflate',
  parse(args, context) {
    readCount(args, ['a pair address', 'an interval', 'a chain'], 'kline')
    const { channel, chain } = readKlineItem(args, context)
    return { canonical: channel, channels: [channel], chains: [chain] }
  },
}

/** `[pair address, interval, chain]`, as kline and multi_kline name a candle series. */
export function readKlineItem(item: readonly unknown[], context: ParseContext) {
  const { address, chain } = readAddress(context, item[0], item[2], 'pair address')
  return { channel: klineChannel(address, readInterval(item[1]), chain), chain }
}

export const klineChannel = (pair: string, interval: string, chain: string): string =>
  `kline|${pair}|${interval}|${chain}`

/** What a candle's push says beside the candle: `corrected` and `removed` after a reorg, `final` when it closes. */
export type KlineMarks = { corrected?: true; removed?: true; final?: true }

export function createKlinePusher(open: OpenCandles): PairPusher {
  return ({ applied, market, out, cursor }, pair, n) => {
    const state = market.state.pairs.get(pair.pair) ?? applied.gone.get(pair.pair)
    const { chain, nowS } = market.state
    pair.candles.forEach((candle, index) => {
      const channel = klineChannel(pair.pair, candle.interval, chain)
      if (state === undefined || !out.isWanted(channel)) return
      const isOver = candleEndS(candle.interval, candle.time) <= nowS
      const marks: KlineMarks = {
        ...(applied.update.kind === 'retract' && !candle.removed ? { corrected: true } : {}),
        ...(candle.removed ? { removed: true } : {}),
        ...(isOver && !candle.removed ? { final: true } : {}),
      }
      open.note(channel, pair.pair, candle, isOver || candle.removed)
      const result = klineResult(market, state, candle, marks, cursor(n + index))
      out.publish([channel], { topic: 'kline', result, mergeKey: `${channel}@${candle.time}`, sentTime: true })
    })
    return n + pair.candles.length
  }
}

export function klineResult(
  market: Market,
  pair: PairState,
  candle: Candle,
  marks: KlineMarks,
  cursor: string,
): string {
  const day = pairWindow(market, pair, '24h')
  return JSON.stringify({
    id: `${pair.pair}-${market.state.chain}`,
    interval: pushedInterval(candle.interval),
    kline: {
      eth: {
        open: decimalOrEmpty(candle.open_m),
        high: decimalOrEmpty(candle.high_m),
        low: decimalOrEmpty(candle.low_m),
        close: decimalOrEmpty(candle.close_m),
        volume: decimalOrEmpty(candle.volume_m),
        time: candle.time,
      },
      usd: {
        open: decimalOrEmpty(candle.open_u),
        high: decimalOrEmpty(candle.high_u),
        low: decimalOrEmpty(candle.low_u),
        close: decimalOrEmpty(candle.close_u),
        volume: decimalOrEmpty(candle.volume_u),
        amount_24h: decimalOrEmpty(day.amount),
        change: changeOrEmpty(candle.open_u, candle.close_u),
        change_v2: decimalOrEmpty(changeOver(pair, day)),
        count_24h: String(day.buys + day.sells),
        high_24h: decimalOrEmpty(day.high),
        low_24h: decimalOrEmpty(day.low),
        swap: '',
        volume_24h: decimalOrEmpty(day.buy_volume + day.sell_volume),
        time: candle.time,
      },
    },
    topic: 'kline',
    ...marks,
    cursor,
  })
}
