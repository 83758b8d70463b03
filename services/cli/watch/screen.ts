/** What `dextape watch` draws: header, candle chart and tape. Pure. */
import { type Paint, widthOf } from '../../core/runtime/terminal.js'
import { type Candle, drawChart } from './candle-chart.js'
import { formatChange, formatClock, formatPrice, formatUsd } from './format.js'

export type Trade = {
  id: string
  timeS: number
  side: 'buy' | 'sell'
  amount: number
  symbol: string
  priceUsd: number
  amountUsd: number
  wallet: string
}

export type View = {
  title: string
  /** Chain and exchange. */
  place: string
  interval: string
  priceUsd: number
  change24h: number
  volume5m: number
  volume1h: number
  volume24h: number
  tvl: number
  trades24h: number
  candles: readonly Candle[]
  /** Newest last. */
  trades: readonly Trade[]
  /** Such as a lost connection. */
  notice: string
}

const HEADER_LINES = 3
const FOOTER_LINES = 1
/** Share of the rest that the tape gets, and what it needs at least. */
const TAPE_SHARE = 0.4
const MIN_TAPE_LINES = 4
const MIN_CHART_LINES = 5

/** Exactly `rows` lines, none wider than `columns`. */
export function drawScreen(view: View, columns: number, rows: number, paint: Paint): string[] {
  const room = Math.max(0, rows - HEADER_LINES - FOOTER_LINES)
  const tapeWanted = Math.max(MIN_TAPE_LINES, Math.round(room * TAPE_SHARE))
  const chartLines = room - tapeWanted - 1 >= MIN_CHART_LINES ? room - tapeWanted - 1 : 0
  const chart = chartLines === 0 ? [] : drawChart(view.candles, columns, chartLines, paint)
  const axis = chart.length === 0 ? [] : [timeAxis(view, columns, paint)]
  const tapeLines = Math.max(0, room - chart.length - axis.length)
  const tape = view.trades
    .slice(-tapeLines)
    .reverse()
    .map((trade) => tapeLine(trade, paint))
  const body = [...headerLines(view, columns, paint), ...chart, ...axis, ...tape].slice(0, Math.max(0, rows - 1))
  const padding = Array.from({ length: Math.max(0, rows - 1 - body.length) }, () => '')
  return [...body, ...padding, paint.dim('q quit')].map((line) =>
    widthOf(line) > columns ? cutPlain(line, columns) : line,
  )
}

function headerLines(view: View, columns: number, paint: Paint): string[] {
  const isUp = !(view.change24h < 0)
  const change = (isUp ? paint.green : paint.red)(`${isUp ? '▲' : '▼'} ${formatChange(view.change24h)} 24 h`)
  const left = `${paint.bold(view.title)} ${paint.dim(view.place)}`
  const right = `${paint.bold(`${formatPrice(view.priceUsd)} USD`)}  ${change}`
  const gap = ' '.repeat(Math.max(2, columns - widthOf(left) - widthOf(right)))
  const facts = [
    `volume ${formatUsd(view.volume24h)} 24 h, ${formatUsd(view.volume1h)} 1 h, ${formatUsd(view.volume5m)} 5 min`,
    `TVL ${formatUsd(view.tvl)}`,
    `${view.trades24h} trades 24 h`,
  ]
  return [`${left}${gap}${right}`, paint.dim(facts.join('  ·  ')), paint.yellow(view.notice)]
}

function timeAxis({ candles, interval }: View, columns: number, paint: Paint): string {
  const last = candles.at(-1)?.timeS ?? 0
  return paint.dim(`${interval} candles to ${formatClock(last)} UTC`.slice(0, columns))
}

function tapeLine({ timeS, side, amount, symbol, priceUsd, amountUsd, wallet }: Trade, paint: Paint): string {
  const colour = side === 'buy' ? paint.green : paint.red
  const cells = [
    ...[formatClock(timeS), side.padEnd(4), `${formatPrice(amount)} ${symbol}`.padStart(24)],
    ...[formatPrice(priceUsd).padStart(14), formatUsd(amountUsd).padStart(9), shortAddress(wallet)],
  ]
  const [clock = '', ...rest] = cells
  return `${paint.dim(clock)}  ${colour(rest.join('  '))}`
}

const shortAddress = (address: string): string =>
  address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address

/** Without colours: the line would not fit anyway. */
function cutPlain(line: string, columns: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a colour.
  return line.replaceAll(/\x1b\[[0-9;]*m/g, '').slice(0, columns)
}
