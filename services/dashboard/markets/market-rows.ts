/**
 * Tokens with their live figures. The first places of a list are read from the server, which sorts over all tokens. The others come
 * page by page, at most a thousand: sorting them beside the first cannot change these, because nothing that is not among them
 * is above them.
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
  change24h: number
  volume24h: number
  trades24h: number
  tvl: number
  cap: number
  createdS: number
  /** Undefined until read. */
  windows: Record<WindowName, WindowFigures> | undefined
  /** Place in the server's order of demand. */
  rank: number
}

const PAGE_SIZE = 100
const MAX_ROWS = 1000
const BATCH = 50
const IDS_PER_SUBSCRIPTION = 400

export type List = Omit<Params<'ranks'>, 'chain'> & { topic: string }
export type MarketRows = ReturnType<typeof createMarketRows>

/** `chain`: undefined for all. */
export function createMarketRows(chain: string | undefined) {
  const rows = new Map<string, Row>()
  const byPair = new Map<string, Row>()
  /** Raised when rows come or their order may have changed. */
  const loaded = createValue({ count: 0, isDone: false })
  /** Raised when figures have moved. */
  const moved = createValue(0)
  const raiseMoved = oncePerFrame(() => moved.set(moved.get() + 1))
  const ending = new AbortController()
  const { signal } = ending
  const ends: (() => void)[] = []
  const followed = new Set<string>()
  /** Tokens whose windows were asked for. */
  const asked = new Set<string>()

  function put(token: TokensTrendingTokensItem, rank: number): Row {
    const id = `${token.token}-${token.chain}`
    const known = rows.get(id)
    const row: Row = {
      ...{ id, token, pairId: `${token.main_pair}-${token.chain}`, windows: known?.windows },
      price: toNumber(token.current_price_usd),
      change24h: toNumber(token.price_change_24h),
      volume24h: toNumber(token.tx_volume_u_24h),
      trades24h: token.tx_count_24h,
      tvl: toNumber(token.tvl),
      cap: toNumber(token.market_cap),
      createdS: token.created_at,
      rank: Math.min(rank, known?.rank ?? Number.POSITIVE_INFINITY),
    }
    rows.set(id, row)
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

  async function readPages(name: string): Promise<void> {
    for (let page = 0; page >= 0 && rows.size < MAX_ROWS && !signal.aborted; ) {
      const params = { chain: name, current_page: page, page_size: PAGE_SIZE }
      const { tokens, next_page } = await ask('tokensTrending', params, signal)
      // After those of the list in demand, whose order is over all chains.
      for (const [at, token] of tokens.entries()) put(token, MAX_ROWS + page * PAGE_SIZE + at)
      loaded.set({ count: rows.size, isDone: false })
      page = next_page
    }
  }

  /** The first places of a list as the server has them; their ids in its order. */
  async function readTop(list: List): Promise<string[]> {
    const found = await ask('ranks', { ...list, ...(chain === undefined ? {} : { chain }) }, signal)
    if (list.topic === 'hot' && list.orderby === undefined)
      for (const row of rows.values()) row.rank = Math.max(row.rank, MAX_ROWS)
    const ids = found.map((token, at) => {
      const row = put(token, list.topic === 'hot' && list.orderby === undefined ? at : Number.MAX_SAFE_INTEGER)
      row.windows = windowsOf(token)
      asked.add(row.id)
      return row.id
    })
    loaded.set({ ...loaded.get(), count: rows.size })
    followNew()
    return ids
  }

  /** Reads the windows of those that have none yet. */
  async function wantWindows(ids: readonly string[]): Promise<void> {
    const missing = ids.filter((id) => rows.get(id)?.windows === undefined && !asked.has(id))
    for (const id of missing) asked.add(id)
    await readWindows(missing)
  }

  /** Figures of the windows, a batch at a time. */
  async function readWindows(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length && !signal.aborted; at += BATCH) {
      const found = await ask('tokensSearch', { token_ids: ids.slice(at, at + BATCH) }, signal)
      for (const token of found) {
        const row = rows.get(`${token.token}-${token.chain}`)
        if (row === undefined) continue
        row.windows = windowsOf(token)
        row.volume24h = toNumber(token.tx_volume_u_24h)
        row.trades24h = token.tx_count_24h
        row.tvl = toNumber(token.tvl)
        row.cap = toNumber(token.market_cap)
      }
      loaded.set({ ...loaded.get() })
    }
  }

  async function load(chains: readonly string[]): Promise<void> {
    await Promise.all(chains.map(readPages))
    loaded.set({ count: rows.size, isDone: true })
    followNew()
  }

  return {
    rows,
    ...{ loaded, moved, load, readTop, readWindows, wantWindows },
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

/** The same order by the server. */
export function orderOf(sort: Sort, window: WindowName, isAscending: boolean): Omit<List, 'topic'> {
  const order = isAscending ? 'asc' : 'desc'
  switch (sort) {
    case 'rank':
      return {}
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

/** What a column sorts by; NaN comes last either way. */
export function measureOf(row: Row, sort: Sort, window: WindowName): number {
  switch (sort) {
    case 'rank':
      return -row.rank
    case 'price':
      return row.price
    case 'age':
      return row.createdS > 0 ? row.createdS : Number.NaN
    case 'tvl':
      return row.tvl
    case 'cap':
      return row.cap
    case '24h':
      return row.change24h
    case '5m':
    case '1h':
    case '4h':
      return row.windows?.[sort].change ?? Number.NaN
    case 'volume':
      return window === '24h' ? row.volume24h : (row.windows?.[window].volume ?? Number.NaN)
    case 'trades':
      return window === '24h' ? row.trades24h : (row.windows?.[window].trades ?? Number.NaN)
    case 'makers':
      return row.windows?.[window].makers ?? Number.NaN
  }
}

export function sortRows(rows: Iterable<Row>, sort: Sort, window: WindowName, isAscending: boolean): Row[] {
  const measured = [...rows].map((row) => ({ row, measure: measureOf(row, sort, window) }))
  const sign = isAscending ? 1 : -1
  measured.sort((a, b) => {
    const [isUnknownA, isUnknownB] = [Number.isNaN(a.measure), Number.isNaN(b.measure)]
    if (isUnknownA || isUnknownB) return Number(isUnknownA) - Number(isUnknownB) || a.row.rank - b.row.rank
    return sign * (a.measure - b.measure) || a.row.rank - b.row.rank || (a.row.id < b.row.id ? -1 : 1)
  })
  return measured.map(({ row }) => row)
}
