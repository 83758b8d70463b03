/** Bars and quotes of the TradingView datafeed, from the same history as the candle operations. */
import type { Bar, Category, HistoryInterval } from '../history/candle-bars.js'
import { readHistory, wholeHistory } from '../history/candle-history.js'
import type { HistorySources } from '../history/hot/hot-history.js'
import { mainPairSegments } from '../history/main-pairs.js'
import { type Charted, describe, lastPrice, nameOf, RESOLUTIONS, tickerOf } from './symbols.js'

export type BarsWanted = {
  interval: HistoryInterval
  category: Category
  /** First bucket start; ignored with `count`. */
  fromS: number
  /** The bars start before it. */
  toS: number
  /** That many bars before `toS`, however long ago. */
  count: number | undefined
}

/** More than a screen of one-pixel bars. */
export const MAX_BARS = 20_000

/** Ascending. With none, `nextTime` is the newest bar before the range, if there is one. */
export type BarsFound =
  | { s: 'ok'; t: number[]; o: number[]; h: number[]; l: number[]; c: number[]; v: number[] }
  | { s: 'no_data'; nextTime?: number }

export async function findBars(sources: HistorySources, charted: Charted, wanted: BarsWanted): Promise<BarsFound> {
  const { interval, category, count } = wanted
  const read = await reader(sources, charted, interval, category)
  const fromS = count === undefined ? wanted.fromS : 0
  const bars = await read(fromS, wanted.toS - 1, Math.min(count ?? MAX_BARS, MAX_BARS))
  if (bars.length > 0) return columnsOf(bars)
  const [before] = fromS === 0 ? [] : await read(0, fromS - 1, 1)
  return before === undefined ? { s: 'no_data' } : { s: 'no_data', nextTime: before.timeS }
}

type ReadBars = (fromS: number, toS: number, limit: number) => Promise<Bar[]>

async function reader(
  sources: HistorySources,
  charted: Charted,
  interval: HistoryInterval,
  category: Category,
): Promise<ReadBars> {
  const { state } = charted.market
  const segments =
    'pair' in charted
      ? [wholeHistory(charted.pair.pair)]
      : await mainPairSegments(sources, state, charted.token.token, interval)
  return async (fromS, toS, limit) =>
    toS < fromS ? [] : readHistory(sources, state, { segments, interval, category, limit, fromS, toS, fill: false })
}

function columnsOf(bars: readonly Bar[]): BarsFound {
  return {
    s: 'ok',
    t: bars.map(({ timeS }) => timeS),
    o: bars.map(({ open }) => open),
    h: bars.map(({ high }) => high),
    l: bars.map(({ low }) => low),
    c: bars.map(({ close }) => close),
    v: bars.map(({ volume }) => volume),
  }
}

const DAY = RESOLUTIONS.get('1D') as HistoryInterval

/** Of today (UTC), in USD. What is not known is left out. */
export async function quoteFor(sources: HistorySources, charted: Charted) {
  const { nowS, chain } = charted.market.state
  const read = await reader(sources, charted, DAY, 'u')
  const days = await read(0, nowS, 2)
  const today = days.at(-1)?.timeS === DAY.startOf(nowS) ? days.at(-1) : undefined
  const before = today === undefined ? days.at(-1) : days.at(-2)
  const price = lastPrice(charted, 'u')
  const change = price - (before?.close ?? Number.NaN)
  const values = {
    lp: price,
    ch: change,
    chp: (change / (before?.close ?? Number.NaN)) * 100,
    open_price: today?.open ?? Number.NaN,
    high_price: today?.high ?? Number.NaN,
    low_price: today?.low ?? Number.NaN,
    prev_close_price: before?.close ?? Number.NaN,
    volume: today?.volume ?? 0,
  }
  const known = Object.entries(values).filter(([, value]) => Number.isFinite(value))
  const names = { short_name: nameOf(charted), original_name: tickerOf(charted), exchange: chain }
  return { ...names, description: describe(charted), ...Object.fromEntries(known) }
}
