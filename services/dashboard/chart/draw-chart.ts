/** Draws bars, indicators and marks with Lightweight Charts. Knows nothing of the server. */
import {
  AreaSeries,
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  PriceScaleMode,
  type SeriesMarker,
  TickMarkType,
  type UTCTimestamp,
} from 'lightweight-charts'
import { clock } from '../app/settings.js'
import { texts } from '../app/texts.js'
import { clockTime, dateTime, price, span } from '../show/format.js'
import { movingAverage, type Point, volumeWeightedAverage } from './indicators.js'
import type { Mark } from './marks.js'
import { type Bar, isBar, type Place, withGaps } from './series.js'

export const STYLES = ['candles', 'line', 'area'] as const
export type Style = (typeof STYLES)[number]
export type Look = { style: Style; isLog: boolean; hasAverages: boolean; hasVwap: boolean; hasVolume: boolean }

const AVERAGES = [7, 25, 99] as const
const DAY_S = 86_400
const FILLS_CHART = 200

export const at = (timeS: number): UTCTimestamp => timeS as UTCTimestamp

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

/** A chart without series, in the colours of the page. */
export function openChart(box: HTMLElement): IChartApi {
  const isLocal = () => clock.get() === 'local'
  const chart = createChart(box, {
    autoSize: true,
    // The page names the library below the chart: its own logo is an inline style, which the page's policy forbids.
    layout: { attributionLogo: false, fontSize: 11, fontFamily: colour('mono') },
    crosshair: { mode: 0 },
    localization: { timeFormatter: (time: number) => dateTime(time, isLocal()), priceFormatter: price },
    timeScale: {
      ...{ borderVisible: false, timeVisible: true, secondsVisible: true, rightOffset: 6, minBarSpacing: 0.5 },
      tickMarkFormatter: (time: number, kind: TickMarkType) => tickText(time, kind, isLocal()),
    },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.08, bottom: 0.22 } },
  })
  paintChart(chart)
  return chart
}

export function paintChart(chart: IChartApi): void {
  const line = colour('line')
  chart.applyOptions({
    layout: { background: { color: colour('panel') }, textColor: colour('soft') },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    crosshair: {
      vertLine: { color: colour('soft'), labelBackgroundColor: colour('raise') },
      horzLine: { color: colour('soft'), labelBackgroundColor: colour('raise') },
    },
  })
}

function tickText(timeS: number, kind: TickMarkType, isLocal: boolean): string {
  const text = dateTime(timeS, isLocal)
  if (kind === TickMarkType.Year) return text.slice(0, 4)
  if (kind === TickMarkType.Month) return text.slice(0, 7)
  if (kind === TickMarkType.DayOfMonth) return text.slice(5, 10)
  const time = clockTime(timeS, isLocal)
  return kind === TickMarkType.TimeWithSeconds ? time : time.slice(0, 5)
}

export type DrawnChart = ReturnType<typeof drawChart>

export function drawChart(box: HTMLElement, onCrosshair: (timeS: number | undefined) => void, onEdge: () => void) {
  const chart = openChart(box)
  let look: Look = { style: 'candles', isLog: false, hasAverages: false, hasVwap: false, hasVolume: true }
  let bars: readonly Bar[] = []
  let stepS = 60
  let marks: readonly Mark[] = []
  let main: ISeriesApi<'Candlestick' | 'Line' | 'Area'> = addMain()
  let markers = createSeriesMarkers(main)
  const volume = chart.addSeries(HistogramSeries, {
    ...{ priceScaleId: '', priceLineVisible: false, lastValueVisible: false },
    priceFormat: { type: 'volume' },
  })
  volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
  const averages = AVERAGES.map((length, index) => ({
    length,
    series: addLine(['#e0a44a', '#5aa9e6', '#b58be0'][index]),
  }))
  const vwap = addLine('#4cc9c0')

  function addLine(color = '#888') {
    return chart.addSeries(LineSeries, {
      ...{ color, lineWidth: 1, priceLineVisible: false, lastValueVisible: false, crosshairMarkerVisible: false },
    })
  }

  function addMain(): ISeriesApi<'Candlestick' | 'Line' | 'Area'> {
    const [up, down, accent] = [colour('up'), colour('down'), colour('accent')]
    if (look.style === 'candles')
      return chart.addSeries(CandlestickSeries, {
        ...{ upColor: up, wickUpColor: up, downColor: down, wickDownColor: down, borderVisible: false },
      }) as ISeriesApi<'Candlestick' | 'Line' | 'Area'>
    const made =
      look.style === 'line'
        ? chart.addSeries(LineSeries, { color: accent, lineWidth: 2 })
        : chart.addSeries(AreaSeries, {
            ...{ lineColor: accent, lineWidth: 2, topColor: `${accent}44`, bottomColor: `${accent}05` },
          })
    return made as ISeriesApi<'Candlestick' | 'Line' | 'Area'>
  }

  const mainPoint = (place: Place) => {
    const time = at(place.timeS)
    if (!isBar(place)) return { time }
    const { open, high, low, close } = place
    return look.style === 'candles' ? { time, open, high, low, close } : { time, value: close }
  }
  const volumePoint = ({ timeS, open, close, volume: value }: Bar) => ({
    ...{ time: at(timeS), value },
    color: `${colour(close >= open ? 'up' : 'down')}55`,
  })
  const linePoint = ({ timeS, value }: Point) => ({ time: at(timeS), value })

  function drawLines(): void {
    for (const { length, series } of averages)
      series.setData(look.hasAverages ? movingAverage(bars, length).map(linePoint) : [])
    vwap.setData(look.hasVwap ? volumeWeightedAverage(bars, stepS).map(linePoint) : [])
  }

  function drawAll(): void {
    const places = withGaps(bars, stepS)
    // Nothing is before the first bar; a few bars would stick to the left.
    chart.timeScale().applyOptions({ fixLeftEdge: places.length > FILLS_CHART })
    // An axis for tiny prices: steps of a hundred-thousandth of the price.
    const last = bars.at(-1)?.close ?? 1
    const minMove = 10 ** Math.max(-18, Math.floor(Math.log10(Math.abs(last) || 1)) - 5)
    main.applyOptions({ priceFormat: { type: 'custom', minMove: Math.min(0.01, minMove), formatter: price } })
    main.setData(places.map(mainPoint) as Parameters<typeof main.setData>[0])
    volume.setData(look.hasVolume ? bars.map(volumePoint) : [])
    drawLines()
    drawMarks(places)
  }

  function drawMarks(places: readonly Place[]): void {
    const skipped = places.flatMap((place): SeriesMarker<UTCTimestamp>[] =>
      !isBar(place) && place.skippedS !== undefined
        ? [
            {
              ...{ time: at(place.timeS), position: 'atPriceMiddle', shape: 'square', size: 0, color: colour('soft') },
              ...{ price: bars[0]?.close ?? 0, text: texts.chart.gap(span(place.skippedS)) },
            },
          ]
        : [],
    )
    const shown = marks.map(markerOf)
    markers.setMarkers([...skipped, ...shown].sort((a, b) => Number(a.time) - Number(b.time)))
  }

  function markerOf({ timeS, kind, text }: Mark): SeriesMarker<UTCTimestamp> {
    const time = at(timeS)
    switch (kind) {
      case 'buy':
        return { time, text, position: 'belowBar', shape: 'arrowUp', color: colour('up') }
      case 'sell':
        return { time, text, position: 'aboveBar', shape: 'arrowDown', color: colour('down') }
      case 'add':
        return { time, text, position: 'belowBar', shape: 'circle', color: colour('focus') }
      case 'remove':
        return { time, text, position: 'aboveBar', shape: 'circle', color: colour('warn') }
      case 'corrected':
        return { time, text, position: 'aboveBar', shape: 'square', color: colour('accent') }
    }
  }

  chart.subscribeCrosshairMove(({ time }) => onCrosshair(time === undefined ? undefined : Number(time)))
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && range.from < 30 && bars.length > 0) onEdge()
  })

  return {
    chart,
    setLook(next: Look): void {
      const isOtherStyle = next.style !== look.style
      look = next
      if (isOtherStyle) {
        markers.detach()
        chart.removeSeries(main)
        main = addMain()
        markers = createSeriesMarkers(main)
      }
      main.priceScale().applyOptions({ mode: next.isLog ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal })
      drawAll()
    },
    setBars(next: readonly Bar[], nextStepS: number): void {
      bars = next
      if (stepS !== nextStepS)
        chart.timeScale().applyOptions({ secondsVisible: nextStepS < 60, timeVisible: nextStepS < DAY_S })
      stepS = nextStepS
      drawAll()
    },
    /** The last bar moved, or the next one came. */
    moveLast(next: readonly Bar[]): void {
      bars = next
      const last = bars.at(-1)
      const before = bars.at(-2)
      if (last === undefined) return
      if (before !== undefined && last.timeS - before.timeS > stepS) return drawAll()
      main.update(mainPoint(last) as Parameters<typeof main.update>[0])
      if (look.hasVolume) volume.update(volumePoint(last))
      if (look.hasAverages || look.hasVwap) drawLines()
    },
    setMarks(next: readonly Mark[]): void {
      marks = next
      drawMarks(withGaps(bars, stepS))
    },
    showLatest: () => chart.timeScale().scrollToRealTime(),
    /** Moves the crosshair by bars, from the last one. */
    pointAt(bar: Bar): void {
      chart.setCrosshairPosition(bar.close, at(bar.timeS), main)
      onCrosshair(bar.timeS)
    },
    repaint(): void {
      paintChart(chart)
      const [up, down, accent] = [colour('up'), colour('down'), colour('accent')]
      main.applyOptions(
        look.style === 'candles'
          ? { upColor: up, wickUpColor: up, downColor: down, wickDownColor: down }
          : look.style === 'line'
            ? { color: accent }
            : { lineColor: accent, topColor: `${accent}44`, bottomColor: `${accent}05` },
      )
      drawAll()
    },
    close: () => chart.remove(),
  }
}
