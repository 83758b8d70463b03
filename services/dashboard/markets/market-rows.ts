/**
 * Tokens with their live figures. Lists are read page by page from the server, which sorts over all tokens; here nothing is
 * sorted again.
 */
import type { Params, PushedPrice, RanksItem, TokensSearchItem, TokensTrendingTokensItem } from '@dextape/client'
import { follow } from '../app/live.js'
import { ask } from '../app/session.js'
import { createValue, oncePerFrame } from '../app/store.js'
import { toNumber } from '../show/format.js'

export const WINDOWS = ['5m', '1h', '4h', '24h'] as const
export type WindowName = (typeof WINDOWS)[number]

export type WindowFigures = { change: number; volume: number; trades: number; makers: number; buyShare: number }
export type Row = {
  id: string
  token: TokensTrendingTokensItem
  pairId: string
  price: number
  /** Moves with the pushes. */
  change24h: number
  tvl: number
  cap: number
  createdS: number
  windows: Record<WindowName, WindowFigures>
}

export const PAGE_SIZE = 100
export const MAX_ROWS = 1000
const IDS_PER_SUBSCRIPTION = 400

export type List = Omit<Params<'ranks'>, 'chain' | 'limit' | 'offset'> & { topic: string }
export type MarketRows = ReturnType<typeof createMarketRows>

/** `chain`: undefined for all. */
export function createMarketRows(chain: string | undefined) {
  const rows = new Map<string, Row>()
  const byPair = new Map<string, Row>()
  /** Raised when figures have moved. */
  const moved = createValue(0)
  const raiseMoved = oncePerFrame(() => moved.set(moved.get() + 1))
  const ending = new AbortController()
  const { signal } = ending
  const ends: (() => void)[] = []
  const followed = new Set<string>()

  function put(token: RanksItem): Row {
    const row: Row = {
      ...{ id: `${token.token}-${token.chain}`, token, pairId: `${token.main_pair}-${token.chain}` },
      price: toNumber(token.current_price_usd),
      change24h: toNumber(token.price_change_24h),
      tvl: toNumber(token.tvl),
      cap: toNumber(token.market_cap),
      createdS: token.created_at,
      windows: windowsOf(token),
    }
    rows.set(row.id, row)
    if (token.main_pair !== '') byPair.set(row.pairId, row)
    return row
  }

  function followNew(): void {
    const added = [...byPair.keys()].filter((pairId) => !followed.has(pairId))
    for (let at = 0; at < added.length; at += IDS_PER_SUBSCRIPTION) {
      const ids = added.slice(at, at + IDS_PER_SUBSCRIPTION)
      for (const id of ids) followed.add(id)
      ends.push(
        follow(
          ['price', ids],
          (item) => {
            if (item.topic === 'price') item.prices.forEach(move)
          },
          { snapshot: true },
        ),
      )
    }
  }

  function move(entry: PushedPrice): void {
    const row = byPair.get(`${entry.pair}-${entry.chain}`)
    if (row === undefined) return
    row.price = toNumber(entry.uprice)
    row.change24h = toNumber(entry.price_change_24h)
    raiseMoved()
  }

  /** A page of a list as the server has it now; ids in its order. */
  async function readPage(list: List, offset: number, limit = PAGE_SIZE): Promise<string[]> {
    const place = { limit, ...(offset === 0 ? {} : { offset }), ...(chain === undefined ? {} : { chain }) }
    const found = await ask('ranks', { ...list, ...place }, signal)
    const ids = found.map((token) => put(token).id)
    followNew()
    raiseMoved()
    return ids
  }

  /** The first `count` places of a list, page by page. `onPage` gets all ids so far, and whether the list ends there. */
  async function readPlaces(
    list: List,
    count: number,
    onPage: (ids: readonly string[], isWhole: boolean) => boolean,
  ): Promise<void> {
    const ids = new Set<string>()
    for (let offset = 0; offset < count; offset += PAGE_SIZE) {
      const page = await readPage(list, offset)
      // A token may have moved down to the next page in between.
      for (const id of page) ids.add(id)
      if (!onPage([...ids], page.length < PAGE_SIZE) || page.length < PAGE_SIZE) return
    }
  }

  return {
    rows,
    ...{ moved, readPage, readPlaces },
    isClosed: () => signal.aborted,
    close() {
      ending.abort()
      for (const end of ends) end()
    },
  }
}

export function windowsOf(token: TokensSearchItem | RanksItem): Record<WindowName, WindowFigures> {
  const of = (name: WindowName): WindowFigures => {
    const volume = toNumber(token[`token_tx_volume_usd_${name}`])
    return {
      change: toNumber(token[`token_price_change_${name}`]),
      volume,
      trades: token[`token_tx_count_${name}`],
      makers: token[`token_makers_${name}`],
      buyShare: toNumber(token[`token_buy_tx_volume_usd_${name}`]) / volume,
    }
  }
  return { '5m': of('5m'), '1h': of('1h'), '4h': of('4h'), '24h': of('24h') }
}

export const SORTS = ['rank', 'price', 'age', 'trades', 'volume', 'makers', ...WINDOWS, 'tvl', 'cap'] as const
export type Sort = (typeof SORTS)[number]

/** A column's order, as the server is asked for it. */
export function orderOf(sort: Sort, window: WindowName, isAscending: boolean): Omit<List, 'topic'> {
  const order = isAscending ? 'asc' : 'desc'
  switch (sort) {
    case 'rank':
      return { orderby: 'demand', order, window }
    case 'price':
    case 'volume':
    case 'makers':
    case 'tvl':
      return { orderby: sort, order, window }
    case 'age':
      return { orderby: 'created_at', order }
    case 'trades':
      return { orderby: 'tx_count', order, window }
    case 'cap':
      return { orderby: 'market_cap', order }
    default:
      return { orderby: 'price_change', order, window: sort }
  }
}

/** Figures of a column; NaN if unknown. */
export function figureOf(row: Row, column: WindowName | 'trades' | 'volume' | 'makers', window: WindowName): number {
  switch (column) {
    case '24h':
      return row.change24h
    case '5m':
    case '1h':
    case '4h':
      return row.windows[column].change
    default:
      return row.windows[window][column]
  }
}
