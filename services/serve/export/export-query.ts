/** The SELECT of an export: a view, narrowed by chain, pair, interval, time and finality. */
import { INTERVALS, type Interval } from '../../core/domain/chains.js'
import type { ChainDirectory } from '../chain-directory.js'
import { HISTORY_INTERVALS } from '../history/candle-bars.js'
import { checkRange, resolveChain, resolveId } from '../rest/parameters.js'
import { badRequest } from '../rest/problem.js'
import { finalUntilS, type Market } from '../views/market-facts.js'
import { literal } from './export-formats.js'

export type ExportFilter = {
  chains?: readonly string[]
  pair_ids?: readonly string[]
  interval?: Interval
  from_time?: number
  to_time?: number
  finalized?: boolean
  /** One day of one chain, as a file of a partitioned folder. */
  date?: string
}

type Narrowing = 'pair' | 'time' | 'interval' | 'final'

const EVENTS: readonly Narrowing[] = ['pair', 'time', 'final']

/** What a view can be narrowed by, beside its chain. */
const NARROWED_BY = {
  trades: EVENTS,
  liquidity: EVENTS,
  candles: ['pair', 'time', 'interval', 'final'],
  pair_history: ['pair', 'time'],
  pairs: ['pair'],
  main_pairs: ['pair'],
  tokens: [],
  holders: [],
} satisfies Record<string, readonly Narrowing[]>

export type ExportView = keyof typeof NARROWED_BY

export const EXPORT_VIEWS = Object.keys(NARROWED_BY) as ExportView[]

const HOUR_S = 3_600
const DAY_S = 86_400

export function exportQuery(directory: ChainDirectory, view: ExportView, filter: ExportFilter): string {
  return `SELECT ${filter.date === undefined ? '*' : '* EXCEPT (chain)'} ${sourceOf(directory, view, filter)}`
}

export type Partition = {
  chain: string
  date: string
  rows: number
  /** Of all rows, for a day that a reorg can still change; 0 for the others. */
  hash: string
}

/** The days of each chain. */
export function partitionsQuery(directory: ChainDirectory, view: ExportView, filter: ExportFilter): string {
  refuse(view, 'time', 'a partition by chain and date')
  const source = sourceOf(directory, view, filter)
  const isOpen = `(${['0', ...directory.markets().map(isOpenDay)].join(' OR ')})`
  const list = (condition: string, hash: string) =>
    `SELECT chain, toString(toDate(time)) AS date, count() AS rows, toString(${hash}) AS hash FROM (SELECT * ${source}) WHERE ${condition} GROUP BY chain, date`
  // A tuple: with several arguments the hash of a row with a NULL is NULL, and the sum leaves it out.
  return `SELECT * FROM (${list(`NOT ${isOpen}`, '0')} UNION ALL ${list(isOpen, 'sum(cityHash64(tuple(*)))')}) ORDER BY chain, date`
}

function isOpenDay(market: Market): string {
  return `(chain = ${literal(market.state.chain)} AND time >= toDateTime(${openDayS(market)}, 'UTC'))`
}

/** The first day in which blocks may still change. A block's own time may lie an hour behind. */
function openDayS(market: Market): number {
  const openS = Math.max(0, finalUntilS(market) - HOUR_S)
  return openS - (openS % DAY_S)
}

function sourceOf(directory: ChainDirectory, view: ExportView, filter: ExportFilter): string {
  const { chains, pair_ids: pairIds, interval, from_time: fromS, to_time: toS, finalized, date } = filter
  checkRange(fromS, toS)
  if (date !== undefined && chains?.length !== 1)
    throw badRequest('export_date', '`date` needs exactly one chain in `chains`.')
  const conditions = [
    ...(chains === undefined ? [] : [`chain IN (${chains.map((chain) => nameOf(directory, chain)).join(', ')})`]),
    ...(pairIds === undefined ? [] : [pairsIn(directory, view, pairIds)]),
    ...(interval === undefined ? [] : [intervalIn(view, interval)]),
    ...(fromS === undefined ? [] : [`time >= ${timeIn(view, '`from_time`', fromS)}`]),
    ...(toS === undefined ? [] : [`time <= ${timeIn(view, '`to_time`', toS)}`]),
    ...(date === undefined ? [] : [dayIn(view, date)]),
    ...(finalized === true ? [finalIn(view, marketsOf(directory, chains))] : []),
  ]
  return `FROM ${view}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`
}

const nameOf = (directory: ChainDirectory, chain: string) => literal(resolveChain(directory, chain).state.chain)

function marketsOf(directory: ChainDirectory, chains: readonly string[] | undefined): Market[] {
  return chains?.map((chain) => resolveChain(directory, chain)) ?? directory.markets()
}

function pairsIn(directory: ChainDirectory, view: ExportView, ids: readonly string[]): string {
  refuse(view, 'pair', '`pair_ids`')
  const pairs = ids.map((id) => resolveId(directory, id, 'pair-id'))
  return `(chain, pair) IN (${pairs.map(({ chain, address }) => `(${literal(chain)}, ${literal(address)})`).join(', ')})`
}

function intervalIn(view: ExportView, interval: Interval): string {
  refuse(view, 'interval', '`interval`')
  return `interval = ${literal(interval)}`
}

function timeIn(view: ExportView, what: string, timeS: number): string {
  refuse(view, 'time', what)
  return `toDateTime(${timeS}, 'UTC')`
}

function dayIn(view: ExportView, date: string): string {
  const startS = Date.parse(`${date}T00:00:00Z`) / 1000
  if (!Number.isInteger(startS))
    throw badRequest('export_date', `\`date\` must be a day such as 2026-11-16, got ${date}.`)
  return `time >= ${timeIn(view, '`date`', startS)} AND time < ${timeIn(view, '`date`', startS + DAY_S)}`
}

/** As `finalized` of the operations: events of final blocks, candles that end before the last final block. */
function finalIn(view: ExportView, markets: readonly Market[]): string {
  refuse(view, 'final', '`finalized`')
  const conditions = markets.map((market) => {
    const chain = `chain = ${literal(market.state.chain)}`
    if (view !== 'candles') return `(${chain} AND block_number <= ${market.state.finalized})`
    return `(${chain} AND (${finalCandles(market).join(' OR ')}))`
  })
  return conditions.length === 0 ? '0' : `(${conditions.join(' OR ')})`
}

function finalCandles(market: Market): string[] {
  return INTERVALS.flatMap((name) => {
    const interval = HISTORY_INTERVALS.get(name)
    if (interval === undefined) return []
    const lastS = Math.max(0, interval.step(interval.startOf(finalUntilS(market)), -1))
    return [`(interval = ${literal(name)} AND time <= toDateTime(${lastS}, 'UTC'))`]
  })
}

function refuse(view: ExportView, narrowing: Narrowing, what: string): void {
  const known: Record<string, readonly Narrowing[]> = NARROWED_BY
  if (known[view]?.includes(narrowing)) return
  const others = EXPORT_VIEWS.filter((name) => known[name]?.includes(narrowing))
  throw badRequest(
    'export_filter',
    `The view ${view} cannot be narrowed by ${what}. Views that can: ${others.join(', ')}.`,
  )
}
