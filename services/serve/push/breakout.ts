import { bucketStart, K1, K60 } from '../../core/domain/buckets.js'
import { AT, CANDLE_WIDTH, type PackedCandles } from '../../core/domain/packed-candles.js'
import { dayVolumeUsd } from '../../core/domain/packed-windows.js'
import type { Trade } from '../../core/domain/records.js'
import { BREAKOUT, breakoutLevelUsd, breakoutTrade } from '../signals/signal-rules.js'
import type { PairEntry, UpdateSnapshot } from './update-snapshot.js'

/** The trade of an update that makes its pair's hour a breakout, and the place of the hour's candle; undefined: none does. */
export function breakoutOf(
  { timeS, nowS }: Pick<UpdateSnapshot, 'timeS' | 'nowS'>,
  { at, trades, candles }: Pick<PairEntry, 'at' | 'trades' | 'candles'>,
): { trade: Trade; candleIndex: number } | undefined {
  // The day's window ends now: of a block in an earlier minute, it is not the day before.
  if (trades.length === 0 || bucketStart(K1, timeS) !== bucketStart(K1, nowS)) return undefined
  const candle = hourCandle(candles, bucketStart(K60, timeS))
  const hourUsd = candle < 0 ? 0 : Number(candles[candle + AT.volumeU])
  if (!(hourUsd >= BREAKOUT.leastHourUsd)) return undefined
  const levelUsd = breakoutLevelUsd(dayVolumeUsd(at.pair.windows) - hourUsd)
  if (!(hourUsd >= levelUsd)) return undefined
  const ownUsd = trades.reduce((sum, { amount_usd: usd }) => sum + (Number.isNaN(usd) ? 0 : usd), 0)
  const trade = trades[breakoutTrade(trades, hourUsd - ownUsd, levelUsd)]
  return trade && { trade, candleIndex: candle / CANDLE_WIDTH }
}

/** Where the candle of an hour begins; -1: there is none. */
function hourCandle(candles: PackedCandles, hourS: number): number {
  for (let at = 0; at < candles.length; at += CANDLE_WIDTH)
    if (candles[at + AT.interval] === K60 && candles[at + AT.timeS] === hourS) return at
  return -1
}
