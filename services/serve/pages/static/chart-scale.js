/** Layout of the chart. Pure: bars and a size in, coordinates out. */
import { price } from './format.js'

const AXIS_WIDTH = 76
const AXIS_HEIGHT = 18
const BAR_WIDTH = 9
const WIDEST_BAR = 22
const VOLUME_SHARE = 0.2
const TICKS = 7
const TIME_TICK_PX = 90

export function layoutOf(bars, width, height) {
  const plotWidth = width - AXIS_WIDTH
  const plotBottom = height - AXIS_HEIGHT
  const visible = bars.slice(-Math.max(1, Math.floor(plotWidth / BAR_WIDTH)))
  const barWidth = Math.min(WIDEST_BAR, plotWidth / Math.max(1, visible.length))
  // Right-aligned, however few bars there are.
  const firstX = plotWidth - barWidth * visible.length
  const low = Math.min(...visible.map((bar) => bar.low))
  const high = Math.max(...visible.map((bar) => bar.high))
  const room = high === low ? Math.abs(high) * 0.01 || 1 : (high - low) * 0.06
  const [bottom, top] = [low - room, high + room]
  const priceBottom = plotBottom * (1 - VOLUME_SHARE)
  const largestVolume = Math.max(...visible.map((bar) => bar.volume))
  return {
    ...{ width, height, plotWidth, plotBottom, visible, barWidth, firstX, low: bottom, high: top },
    x: (index) => firstX + (index + 0.5) * barWidth,
    y: (value) => 8 + (1 - (value - bottom) / (top - bottom)) * (priceBottom - 8),
    volumeHeight: (volume) => (largestVolume > 0 ? (volume / largestVolume) * plotBottom * (VOLUME_SHARE - 0.03) : 0),
  }
}

/** Round numbers within the visible prices, all with the same number of decimals. */
export function priceTicks({ low, high }) {
  const rough = (high - low) / TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const digits = Math.max(0, -Math.floor(Math.log10(step)))
  const first = Math.ceil(low / step)
  return Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, index) => {
    const value = (first + index) * step
    return { value, text: digits <= 6 ? value.toFixed(digits) : price(value) }
  })
}

export function timeTicks({ visible, barWidth, plotWidth, x }) {
  const every = Math.max(1, Math.ceil(TIME_TICK_PX / barWidth))
  return visible
    .map(({ timeS }, index) => ({ timeS, index }))
    .filter(({ index }) => (visible.length - 1 - index) % every === 0 && x(index) > 24 && x(index) < plotWidth - 16)
}
