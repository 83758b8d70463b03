/** Lines computed from bars. */
import type { Bar } from './series.js'

export type Point = { timeS: number; value: number }

/** Mean of the last `length` closes; none before there are as many. */
export function movingAverage(bars: readonly Bar[], length: number): Point[] {
  const points: Point[] = []
  let sum = 0
  bars.forEach(({ timeS, close }, at) => {
    sum += close
    const gone = bars[at - length]
    if (gone !== undefined) sum -= gone.close
    if (at >= length - 1) points.push({ timeS, value: sum / length })
  })
  return points
}

const DAY_S = 86_400

/** Volume-weighted mean of typical prices, from the start of each day (UTC). Of daily bars and longer: from the first bar. */
export function volumeWeightedAverage(bars: readonly Bar[], stepS: number): Point[] {
  const points: Point[] = []
  let day = Number.NaN
  let value = 0
  let volume = 0
  for (const bar of bars) {
    const barDay = stepS >= DAY_S ? 0 : Math.floor(bar.timeS / DAY_S)
    if (barDay !== day) [day, value, volume] = [barDay, 0, 0]
    value += ((bar.high + bar.low + bar.close) / 3) * bar.volume
    volume += bar.volume
    if (volume > 0) points.push({ timeS: bar.timeS, value: value / volume })
  }
  return points
}
