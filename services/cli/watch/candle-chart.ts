/** Candles drawn with characters: one column each, two price steps per row. */
import type { Paint } from '../../core/runtime/terminal.js'
import { formatPrice } from './format.js'

export type Candle = { timeS: number; open: number; high: number; low: number; close: number }

const NOTHING = 0
const WICK = 1
const BODY = 2
/** By the upper and the lower half of a cell. */
const CELLS = [
  [' ', '╷', '╻'],
  ['╵', '│', '╽'],
  ['╹', '╿', '┃'],
]

const AXIS_WIDTH = 14

/** Of width and height in characters, with prices to the right. The newest candle is the last column. */
export function drawChart(candles: readonly Candle[], width: number, height: number, paint: Paint): string[] {
  const known = candles.filter(({ high, low }) => Number.isFinite(high) && Number.isFinite(low))
  if (known.length === 0 || height < 2) return []
  const shown = known.slice(-Math.max(1, width - AXIS_WIDTH))
  const top = Math.max(...shown.map(({ high }) => high))
  const bottom = Math.min(...shown.map(({ low }) => low))
  const labels = axisLabels(top, bottom, height)
  const columns = shown.map((candle) => drawCandle(candle, top, bottom, height))
  return labels.map((label, row) => {
    const cells = columns.map((cells, at) => {
      const { open, close } = shown[at] ?? { open: 0, close: 0 }
      const cell = cells[row] ?? ' '
      return cell === ' ' ? cell : close >= open ? paint.green(cell) : paint.red(cell)
    })
    const padding = ' '.repeat(Math.max(0, width - AXIS_WIDTH - shown.length))
    return `${padding}${cells.join('')} ${paint.dim(label)}`
  })
}

/** The cells of a column, from the top. */
function drawCandle({ open, high, low, close }: Candle, top: number, bottom: number, height: number): string[] {
  const steps = height * 2
  const range = top - bottom
  // The step of a price, from the top.
  const stepOf = (price: number) =>
    range === 0 ? Math.floor(steps / 2) : Math.min(steps - 1, Math.floor(((top - price) / range) * steps))
  const [from, to] = [stepOf(high), stepOf(low)]
  const [bodyFrom, bodyTo] = [stepOf(Math.max(open, close)), stepOf(Math.min(open, close))]
  const partAt = (step: number) => {
    if (step >= bodyFrom && step <= bodyTo) return BODY
    return step >= from && step <= to ? WICK : NOTHING
  }
  return Array.from({ length: height }, (_, row) => CELLS[partAt(row * 2)]?.[partAt(row * 2 + 1)] ?? ' ')
}

/** A price on every fourth row and on the last one. */
function axisLabels(top: number, bottom: number, height: number): string[] {
  return Array.from({ length: height }, (_, row) => {
    const isLabelled = row === height - 1 || (row % 4 === 0 && row < height - 2)
    return isLabelled ? formatPrice(top - ((top - bottom) * row) / (height - 1)) : ''
  })
}
