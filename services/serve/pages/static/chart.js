/** Candles with volume on a canvas: redrawn on change, inspected with the pointer or the arrow keys. */

import { layoutOf, priceTicks, timeTicks } from './chart-scale.js'
import { element } from './elements.js'
import { clock, date, percent, price, short } from './format.js'

const MOST_BARS = 600
const LABEL_HEIGHT = 18

/**
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} legend
 */
export function createChart(canvas, legend) {
  /** Ascending by time; a bar is { timeS, open, high, low, close, volume }. */
  let bars = []
  let stepS = 60
  /** Index of the inspected bar; undefined: the last. */
  let cursor
  let drawing = false

  function redraw() {
    if (drawing) return
    drawing = true
    requestAnimationFrame(() => {
      drawing = false
      draw()
    })
  }

  function draw() {
    const { width, height } = canvas.getBoundingClientRect()
    const ratio = devicePixelRatio
    canvas.width = Math.round(width * ratio)
    canvas.height = Math.round(height * ratio)
    const pen = canvas.getContext('2d')
    if (pen === null || width === 0) return
    pen.scale(ratio, ratio)
    const ink = inkOf(canvas)
    pen.font = ink.font
    const layout = layoutOf(bars, width, height)
    if (layout.visible.length === 0) {
      pen.fillStyle = ink.soft
      pen.fillText('No trades in this interval yet.', 12, height / 2)
      legend.textContent = ''
      return
    }
    drawGrid(pen, layout, ink, stepS)
    for (const [index, bar] of layout.visible.entries()) drawBar(pen, layout, ink, bar, index)
    drawLastPrice(pen, layout, ink)
    const read = cursor === undefined ? undefined : Math.min(cursor, layout.visible.length - 1)
    if (read !== undefined) drawCursor(pen, layout, ink, read)
    showLegend(layout.visible[read ?? layout.visible.length - 1])
  }

  function showLegend(bar) {
    const change = percent(((bar.close - bar.open) / bar.open) * 100)
    const time = stepS >= 86_400 ? date(bar.timeS) : `${date(bar.timeS)} ${clock(bar.timeS)} UTC`
    const words = [
      time,
      `O ${price(bar.open)}`,
      `H ${price(bar.high)}`,
      `L ${price(bar.low)}`,
      `C ${price(bar.close)}`,
      change,
      `Vol $${short(bar.volume)}`,
    ]
    legend.replaceChildren(...words.map((text) => element('span', { text })))
    canvas.setAttribute('aria-label', `Candles. ${words.join(', ')}`)
  }

  canvas.addEventListener('pointermove', (event) => {
    const { left, width, height } = canvas.getBoundingClientRect()
    const { barWidth, visible, firstX } = layoutOf(bars, width, height)
    const at = Math.floor((event.clientX - left - firstX) / barWidth)
    cursor = at >= 0 && at < visible.length ? at : undefined
    redraw()
  })
  canvas.addEventListener('pointerleave', () => {
    cursor = undefined
    redraw()
  })
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const { width, height } = canvas.getBoundingClientRect()
    const last = layoutOf(bars, width, height).visible.length - 1
    cursor = Math.max(0, Math.min(last, (cursor ?? last) + step))
    redraw()
  })
  canvas.addEventListener('blur', () => {
    cursor = undefined
    redraw()
  })
  new ResizeObserver(redraw).observe(canvas)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)

  return {
    setBars(given, seconds) {
      bars = given
      stepS = seconds
      redraw()
    },
    /** Applies a push of the newest candle, or of one a reorg changed. */
    upsert(bar) {
      const at = bars.findIndex(({ timeS }) => timeS >= bar.timeS)
      if (at === -1) bars.push(bar)
      else bars.splice(at, bars[at].timeS === bar.timeS ? 1 : 0, bar)
      if (bars.length > MOST_BARS) bars.shift()
      redraw()
    },
    remove(timeS) {
      bars = bars.filter((bar) => bar.timeS !== timeS)
      redraw()
    },
  }
}

function inkOf(canvas) {
  const style = getComputedStyle(canvas)
  const read = (name) => style.getPropertyValue(name).trim()
  return {
    up: read('--up'),
    down: read('--down'),
    grid: read('--grid'),
    soft: read('--ink-soft'),
    sheet: read('--sheet'),
    accent: read('--accent'),
    font: `11px ${style.fontFamily}`,
  }
}

function drawGrid(pen, layout, ink, stepS) {
  pen.strokeStyle = ink.grid
  pen.fillStyle = ink.soft
  pen.lineWidth = 1
  pen.textBaseline = 'middle'
  const lastY = layout.y(layout.visible.at(-1).close)
  for (const { value, text } of priceTicks(layout)) {
    const y = Math.round(layout.y(value)) + 0.5
    line(pen, 0, y, layout.plotWidth, y)
    if (Math.abs(y - lastY) > LABEL_HEIGHT) pen.fillText(text, layout.plotWidth + 7, y)
  }
  pen.textBaseline = 'alphabetic'
  pen.textAlign = 'center'
  for (const { index, timeS } of timeTicks(layout)) {
    const text =
      stepS >= 86_400 || timeS % 86_400 === 0 ? date(timeS).slice(5) : clock(timeS).slice(0, stepS < 60 ? 8 : 5)
    pen.fillText(text, layout.x(index), layout.height - 4)
  }
  pen.textAlign = 'left'
}

function drawBar(pen, layout, ink, bar, index) {
  const x = layout.x(index)
  const body = Math.max(1, Math.floor(layout.barWidth * 0.68))
  const left = Math.round(x - body / 2)
  pen.fillStyle = bar.close >= bar.open ? ink.up : ink.down
  pen.globalAlpha = 0.28
  const tall = layout.volumeHeight(bar.volume)
  pen.fillRect(left, layout.plotBottom - tall, body, tall)
  pen.globalAlpha = 1
  pen.fillRect(Math.round(x) - 0.5, layout.y(bar.high), 1, Math.max(1, layout.y(bar.low) - layout.y(bar.high)))
  const top = layout.y(Math.max(bar.open, bar.close))
  pen.fillRect(left, top, body, Math.max(1, layout.y(Math.min(bar.open, bar.close)) - top))
}

function drawLastPrice(pen, layout, ink) {
  const last = layout.visible.at(-1)
  const y = Math.round(layout.y(last.close)) + 0.5
  const colour = last.close >= last.open ? ink.up : ink.down
  pen.strokeStyle = colour
  pen.setLineDash([2, 3])
  line(pen, 0, y, layout.plotWidth, y)
  pen.setLineDash([])
  pen.fillStyle = colour
  pen.fillRect(layout.plotWidth, y - LABEL_HEIGHT / 2, layout.width - layout.plotWidth, LABEL_HEIGHT)
  pen.fillStyle = ink.sheet
  pen.textBaseline = 'middle'
  pen.fillText(price(last.close), layout.plotWidth + 7, y)
  pen.textBaseline = 'alphabetic'
}

function drawCursor(pen, layout, ink, index) {
  pen.strokeStyle = ink.accent
  const x = Math.round(layout.x(index)) + 0.5
  line(pen, x, 0, x, layout.plotBottom)
}

function line(pen, fromX, fromY, toX, toY) {
  pen.beginPath()
  pen.moveTo(fromX, fromY)
  pen.lineTo(toX, toY)
  pen.stroke()
}
