/** The screen of `dextape watch`: drawn again after every change, restored at the end. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Interval, PairDetail } from '../../../clients/typescript/src/index.js'
import { type OutStream, type Paint, printable } from '../../core/runtime/terminal.js'
import type { Candle } from './candle-chart.js'
import { numberOf, type PairEvent, type PairFeed } from './follow-pair.js'
import { drawScreen, type Trade, type View } from './screen.js'

type Keyboard = NodeJS.ReadStream

export type ShowOptions = {
  feed: PairFeed
  detail: PairDetail
  interval: Interval
  paint: Paint
  stdout: OutStream
  stdin: Keyboard
  /** Ends the command. */
  stop: () => void
  signal: AbortSignal
}

const MAX_TRADES = 200
const MAX_CANDLES = 300
const DRAW_EVERY_MS = 100
const DETAIL_EVERY_MS = 5000

const OPEN_SCREEN = '\x1b[?1049h\x1b[?25l'
const CLOSE_SCREEN = '\x1b[?25h\x1b[?1049l'
const HOME = '\x1b[H'
const CLEAR_TO_END_OF_LINE = '\x1b[K'

export function showPair(options: ShowOptions): { ended: Promise<void>; onRetry: (error: unknown) => void } {
  const { feed, interval, paint, stdout, stdin, stop, signal } = options
  let { detail } = options
  let trades: Trade[] = []
  let candles: Candle[] = []
  let notice = ''
  let timer: NodeJS.Timeout | undefined

  function viewOf(): View {
    const quote = detail.target_token === detail.token0_address ? detail.token1_symbol : detail.token0_symbol
    const target = detail.target_token === detail.token0_address ? detail.token0_symbol : detail.token1_symbol
    const price = detail.target_token === detail.token0_address ? detail.token0_price_usd : detail.token1_price_usd
    const last = trades.findLast(({ priceUsd }) => Number.isFinite(priceUsd))
    return {
      ...{
        title: printable(`${target}/${quote}`),
        place: `${detail.chain} ${detail.amm}`,
        interval,
        candles,
        trades,
        notice,
      },
      priceUsd: last?.priceUsd ?? numberOf(price),
      change24h: numberOf(detail.price_change_24h),
      ...{ volume5m: numberOf(detail.volume_u_5m), volume1h: numberOf(detail.volume_u_1h) },
      ...{ volume24h: numberOf(detail.volume_u_24h), tvl: numberOf(detail.tvl), trades24h: detail.tx_24h_count },
    }
  }

  function draw(): void {
    timer = undefined
    const lines = drawScreen(viewOf(), stdout.columns ?? 80, stdout.rows ?? 24, paint)
    stdout.write(HOME + lines.map((line) => `${line}${CLEAR_TO_END_OF_LINE}`).join('\r\n'))
  }
  const drawSoon = () => {
    timer ??= setTimeout(draw, DRAW_EVERY_MS)
  }

  /** After the subscriptions have started, so that nothing falls in between. */
  async function readHistory(): Promise<void> {
    const [pastTrades, pastCandles] = await Promise.all([
      feed.lastTrades(MAX_TRADES),
      feed.lastCandles(interval, MAX_CANDLES),
    ])
    const pushed = new Set(trades.map(({ id }) => id))
    trades = [...pastTrades.filter(({ id }) => !pushed.has(id)), ...trades]
    for (const candle of pastCandles) if (!candles.some(({ timeS }) => timeS === candle.timeS)) candles.push(candle)
    candles.sort((a, b) => a.timeS - b.timeS)
    drawSoon()
  }

  function apply(event: PairEvent): void {
    notice = ''
    if (event.kind === 'trade')
      trades = [...trades.filter(({ id }) => id !== event.trade.id), event.trade].slice(-MAX_TRADES)
    else if (event.kind === 'retract') trades = trades.filter(({ id }) => !event.ids.includes(id))
    else if (event.kind === 'candle') {
      const rest = candles.filter(({ timeS }) => timeS !== event.candle.timeS)
      candles = [...rest, event.candle].sort((a, b) => a.timeS - b.timeS).slice(-MAX_CANDLES)
    } else {
      // What is known is older than the gap.
      trades = []
      candles = []
      readHistory().catch(() => {})
    }
    drawSoon()
  }

  const follow = async (events: AsyncGenerator<PairEvent>) => {
    for await (const event of events) apply(event)
  }

  async function refreshDetail(): Promise<void> {
    while (!signal.aborted) {
      await delay(DETAIL_EVERY_MS, undefined, { signal }).catch(() => {})
      // Statistics stay as they were while the server is away.
      detail = (await feed.detail().catch(() => null)) ?? detail
      drawSoon()
    }
  }

  const onKey = (key: Buffer) => {
    // In raw mode Ctrl-C is a key.
    if (['q', 'Q', '\x03'].includes(key.toString())) stop()
  }
  const onResize = () => {
    stdout.write('\x1b[2J')
    drawSoon()
  }

  async function run(): Promise<void> {
    stdout.write(OPEN_SCREEN)
    stdout.on('resize', onResize)
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.on('data', onKey)
    try {
      draw()
      const following = [follow(feed.trades()), follow(feed.candles(interval))]
      await Promise.race([Promise.all([...following, readHistory(), refreshDetail()]), untilAborted(signal)])
    } finally {
      clearTimeout(timer)
      stdout.off('resize', onResize)
      stdin.off('data', onKey)
      if (stdin.isTTY) stdin.setRawMode(false)
      stdin.pause()
      stdout.write(CLOSE_SCREEN)
    }
  }

  return {
    ended: run(),
    onRetry(error) {
      notice = `Reconnecting: ${error instanceof Error ? error.message : String(error)}`
      drawSoon()
    },
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
