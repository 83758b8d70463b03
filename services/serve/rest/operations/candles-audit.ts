import { type Static, Type } from '@sinclair/typebox'
import { type FlagName, flagNames } from '../../../core/domain/money.js'
import type { Trade } from '../../../core/domain/records.js'
import { type Bar, type Category, HISTORY_INTERVALS, type HistoryInterval } from '../../history/candle-bars.js'
import { readHistory, wholeHistory } from '../../history/candle-history.js'
import { readTrades } from '../../history/event-history.js'
import { inChainOrder } from '../../history/event-order.js'
import type { HistorySources } from '../../history/hot/hot-history.js'
import { type CandleFigures, FIGURES, recomputeCandle } from '../../history/recompute-candle.js'
import type { Placed } from '../../memory/event-overlay.js'
import type { PairState } from '../../memory/served-chain.js'
import { SwapItem, swapItem } from '../../views/event-items.js'
import { decimal, decimalOrNull, fieldsOf, flag, int, text } from '../../views/field-formats.js'
import { finalUntilS, type Market, quoteOf, tokenInfo } from '../../views/market-facts.js'
import { operation } from '../operation.js'
import { epochSeconds, limitOf, resolveId } from '../parameters.js'
import { badRequest, serviceUnavailable } from '../problem.js'
import { intervalOf } from './klines-pair.js'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
/** A busy pair's week has more: its days can be audited. */
const MAX_TRADES = 50_000

const CATEGORIES = ['u', 'm', 'r'] as const satisfies readonly Category[]
/** The others are added up from days when asked for: there is no stored candle to audit. */
const AUDITED = [...HISTORY_INTERVALS].filter(([, { storedPerBucket }]) => storedPerBucket === 1).map(([name]) => name)

const Figures = Type.Object(fieldsOf([...FIGURES], decimal))
const ByCurrency = Type.Object({
  u: Type.Union([Figures, Type.Null()]),
  m: Type.Union([Figures, Type.Null()]),
  r: Type.Union([Figures, Type.Null()]),
})

export const candlesAudit = operation({
  id: 'candlesAudit',
  method: 'GET',
  path: '/v2/candles/audit',
  summary: 'A candle, the trades it was made from, the candle computed again from them, and whether both agree',
  costCu: 50,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    pair_id: Type.String({
      description: '<pair_address>-<chain>',
      examples: ['0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640-eth'],
    }),
    interval: Type.String({
      enum: AUDITED,
      description: 'Interval in minutes, optionally with the prefix k; s1 for one second',
    }),
    time: epochSeconds('A time in the bucket'),
    limit: limitOf('trades listed', { max: MAX_LIMIT, standard: DEFAULT_LIMIT }),
  }),
  data: Type.Object({
    pair_id: text,
    interval: Type.Unsafe<number | string>({ type: ['integer', 'string'] }),
    time: Type.Integer({ description: 'Start of the bucket' }),
    end_time: Type.Integer({ description: 'Start of the next bucket' }),
    finalized: Type.Boolean({ description: 'No block can change the candle any more' }),
    agree: flag,
    differences: Type.Array(Type.Object({ currency: text, figure: text, candle: decimal, recomputed: decimal })),
    unchecked: Type.Array(Type.Object({ currency: text, figure: text, reason: text }), {
      description: 'Figures that the trades do not determine',
    }),
    candle: ByCurrency,
    recomputed: ByCurrency,
    previous_close: Type.Object(fieldsOf([...CATEGORIES], decimal)),
    trade_count: int,
    trades: Type.Array(
      Type.Object({
        ...SwapItem.properties,
        ...fieldsOf(['price_usd', 'price_native', 'price_quote', 'amount_native', 'quote_price_usd'], decimal),
        quote_priced_by: Type.String({ description: 'Where the USD price of the quote token came from' }),
        flags: Type.Array(text, { description: 'Why the trade sets no price' }),
      }),
    ),
  }),
  async handle({ chains, ...sources }, { query }) {
    const { address, chain, market } = resolveId(chains, query.pair_id, 'pair-id')
    const pair = market.state.pairs.get(address)
    if (pair === undefined) throw badRequest('pair_unknown', `Unknown pair "${query.pair_id.slice(0, 150)}".`)
    const interval = storedInterval(query.interval)
    const timeS = interval.startOf(query.time)
    const endS = interval.step(timeS, 1)
    const { trades, ...result } = await auditWhileStill(sources, market, pair, interval, timeS)
    return {
      data: {
        ...{ pair_id: `${address}-${chain}`, interval: interval.name, time: timeS, end_time: endS },
        finalized: endS <= finalUntilS(market),
        ...result,
        trade_count: trades.length,
        trades: trades.slice(0, query.limit ?? DEFAULT_LIMIT).map((trade) => auditedTrade(market, pair, trade)),
      },
      chains: [chain],
    }
  },
})

function storedInterval(name: string): HistoryInterval {
  const interval = intervalOf(name)
  if (interval.storedPerBucket === 1) return interval
  throw badRequest('interval_rolled_up', `Interval ${name} is added up from days: audit those (1440).`)
}

type Figures = Static<typeof Figures>
type Audit = Awaited<ReturnType<typeof auditCandle>>

const ATTEMPTS = 5

/** The parts are read one after another: a block in between may have changed the candle, but not the trades read before. */
async function auditWhileStill(...audited: Parameters<typeof auditCandle>): Promise<Audit> {
  const [, { state }] = audited
  for (let attempt = 1; ; attempt += 1) {
    const { revision } = state
    const audit = await auditCandle(...audited)
    if (audit.agree || state.revision === revision) return audit
    if (attempt === ATTEMPTS) throw serviceUnavailable('candle_moving', 'The candle changed while it was audited.')
  }
}

type Difference = { currency: Category; figure: string; candle: string | null; recomputed: string | null }

async function auditCandle(
  sources: HistorySources,
  market: Market,
  pair: PairState,
  interval: HistoryInterval,
  timeS: number,
) {
  const { state } = market
  const toS = interval.step(timeS, 1) - 1
  const trades = await tradesOf(sources, market, pair, timeS, toS)
  const { decimals } = tokenInfo(market, quoteOf(pair))
  const candle: Record<Category, Figures | null> = { u: null, m: null, r: null }
  const recomputed = { ...candle }
  const previous_close: Record<Category, string | null> = { u: null, m: null, r: null }
  const differences: Difference[] = []
  const unchecked: { currency: Category; figure: string; reason: string }[] = []
  for (const category of CATEGORIES) {
    const span = { segments: [wholeHistory(pair.pair)], fromS: 0, toS: timeS, limit: 2, fill: false }
    const bars = await readHistory(sources, state, { ...span, interval, category })
    const stored = bars.find((bar) => bar.timeS === timeS)
    const before = bars.findLast((bar) => bar.timeS < timeS)
    previous_close[category] = decimalOrNull(before?.close ?? Number.NaN)
    const again = trades.length === 0 ? undefined : recomputeCandle(trades, category, before, decimals)
    candle[category] = figuresOf(stored)
    recomputed[category] = figuresOf(again)
    for (const figure of FIGURES) {
      const [one, other] = [stored?.[figure] ?? Number.NaN, again?.[figure] ?? Number.NaN]
      if (Object.is(one, other)) continue
      if (figure === 'volume' && category === 'r' && trades.some(mayLackAmount)) {
        unchecked.push({ currency: category, figure, reason: LATE_DECIMALS })
        continue
      }
      differences.push({ currency: category, figure, candle: decimalOrNull(one), recomputed: decimalOrNull(other) })
    }
  }
  return { agree: differences.length === 0, differences, unchecked, candle, recomputed, previous_close, trades }
}

const LATE_DECIMALS = 'Trades before the decimals of the quote token were known add no volume in it, and do not say so.'

const mayLackAmount = ({ flags }: Trade): boolean => flagNames(flags).includes('unpriced')

/** In chain order, which decides what is first and last. */
async function tradesOf(sources: HistorySources, { state }: Market, { pair }: PairState, fromS: number, toS: number) {
  const found = await readTrades(sources, state, {
    pair,
    limit: MAX_TRADES + 1,
    fromS,
    toS,
    sort: 'asc',
    after: undefined,
  })
  if (found.length > MAX_TRADES) {
    throw badRequest('too_many_trades', `The bucket has more than ${MAX_TRADES} trades. Audit a shorter interval.`)
  }
  return found.sort(inChainOrder)
}

function figuresOf(bar: Bar | CandleFigures | undefined): Figures | null {
  if (bar === undefined) return null
  return Object.fromEntries(FIGURES.map((name) => [name, decimalOrNull(bar[name])])) as Figures
}

function auditedTrade(market: Market, pair: PairState, trade: Placed<Trade>) {
  const flags: FlagName[] = flagNames(trade.flags)
  return {
    ...swapItem(market, pair, trade),
    price_usd: decimalOrNull(trade.price_usd),
    price_native: decimalOrNull(trade.price_native),
    price_quote: decimalOrNull(trade.price_quote),
    amount_native: decimalOrNull(trade.amount_native),
    quote_price_usd: decimalOrNull(trade.quote_usd),
    quote_priced_by: trade.quote_path,
    flags,
  }
}
