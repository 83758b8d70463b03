import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { route, setQuery } from '../app/router.js'
import { session } from '../app/session.js'
import { status } from '../app/status.js'
import { useEvery, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { whole } from '../show/format.js'
import { Choices, Empty, Failed, Skeleton } from '../show/parts.js'
import { LiveTape } from './live-tape.js'
import {
  createMarketRows,
  type List,
  MAX_ROWS,
  type MarketRows,
  orderOf,
  PAGE_SIZE,
  type Row,
  SORTS,
  type Sort,
  WINDOWS,
  type WindowName,
} from './market-rows.js'
import { MarketTable } from './market-table.js'

const TABS = ['trending', 'gainers', 'losers', 'new', 'volume', 'tvl'] as const
type Tab = (typeof TABS)[number]
const TAPE_PAIRS = 24
const REFRESH_MS = 10_000
const NO_ROWS: readonly Row[] = []

/** What is read of a list: ids in the server's order. */
type Places = { name: string; ids: readonly string[]; isWhole: boolean }

export function MarketsView() {
  const { query } = useValue(route)
  const report = useValue(status)
  const open = useValue(session)
  const known = (report?.chains ?? []).map(({ chain }) => chain).sort()
  const chain = query.get('chain') ?? ''
  const window = oneOf(WINDOWS, query.get('window')) ?? '24h'
  const tab = oneOf(TABS, query.get('list')) ?? 'trending'
  const sort = oneOf(SORTS, query.get('sort')) ?? sortOf(tab, window)
  const isAscending = query.get('dir') === 'asc' || (query.get('sort') === null && tab === 'losers')
  const [market, setMarket] = useState<MarketRows | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [turn, setTurn] = useState(0)
  const [places, setPlaces] = useState<Places | undefined>(undefined)
  const [busiest, setBusiest] = useState<readonly Row[]>(NO_ROWS)
  const list = listOf(tab, sort, window, isAscending)
  const name = JSON.stringify([chain, list])
  const current = useRef(name)
  current.current = name
  const lastSeen = useRef(0)

  useEffect(() => {
    document.title = `${texts.markets.title} · ${texts.name}`
  }, [])
  useEffect(() => {
    if (open.kind !== 'open') return undefined
    const made = createMarketRows(chain === '' ? undefined : chain)
    setMarket(made)
    setPlaces(undefined)
    setError(undefined)
    return () => made.close()
  }, [chain, open, turn])
  const read = async (count: number) => {
    try {
      await market?.readPlaces(list, count, (ids, isWhole) => {
        if (current.current !== name) return false
        setPlaces((old) => joinPlaces(old, { name, ids, isWhole }))
        setError(undefined)
        return true
      })
    } catch (failure) {
      if (market?.isClosed() === false) setError(failure)
    }
  }
  useEffect(() => void read(MAX_ROWS), [market, name])
  const hasChains = known.length > 0
  useEffect(() => {
    if (market === undefined || !hasChains) return
    market.readPage({ topic: 'hot' }, 0, TAPE_PAIRS).then(
      (ids) => setBusiest(rowsOf(market, ids)),
      () => {},
    )
  }, [market, hasChains])
  useEvery(REFRESH_MS, () => void read(Math.min(MAX_ROWS, lastSeen.current + PAGE_SIZE)))

  const rows = useMemo(() => (market === undefined ? NO_ROWS : rowsOf(market, places?.ids ?? [])), [market, places])
  const isMover = tab === 'gainers' || tab === 'losers'
  const isRead = places?.name === name
  const onSee = (ids: readonly string[]) => {
    lastSeen.current = rows.findIndex(({ id }) => id === ids.at(-1))
  }
  const onSort = (value: Sort) => {
    const other = oneOf(WINDOWS, value)
    if (value === sort) setQuery({ sort: value, dir: isAscending ? 'desc' : 'asc' })
    // Who moved in another window are other tokens.
    else if (isMover && other !== undefined) setQuery({ window: other, sort: undefined, dir: undefined })
    else setQuery({ sort: value, dir: undefined })
  }
  const nowS = (name: string) => report?.chains.find((one) => one.chain === name)?.time ?? Date.now() / 1000

  return (
    <div class="markets-view">
      <h1 class="visually-hidden">{texts.markets.title}</h1>
      <div class="bar">
        <Choices<Tab>
          label={texts.markets.list}
          value={tab}
          onChoose={(value) =>
            setQuery({ list: value === 'trending' ? undefined : value, sort: undefined, dir: undefined })
          }
          options={TABS.map((value) => ({ value, label: texts.markets.tabs[value] }))}
        />
        <Choices<WindowName>
          label={texts.markets.window}
          value={window}
          onChoose={(value) => setQuery({ window: value === '24h' ? undefined : value })}
          options={WINDOWS.map((value) => ({ value, label: value }))}
        />
        <Choices<string>
          label={texts.markets.chain}
          value={chain}
          onChoose={(value) => setQuery({ chain: value })}
          options={[{ value: '', label: texts.markets.all }, ...known.map((value) => ({ value, label: value }))]}
        />
        <span class="soft num count" aria-live="polite">
          {texts.markets.count(
            `${whole(rows.length)}${isRead && !places.isWhole && rows.length >= MAX_ROWS ? '+' : ''}`,
          )}
          {(!isRead || (!places.isWhole && rows.length < MAX_ROWS)) && ` · ${texts.markets.loadingMore}`}
        </span>
      </div>
      <div class="floor">
        <div class="panel table-panel">
          {error !== undefined && rows.length === 0 ? (
            <Failed error={error} onRetry={() => setTurn(turn + 1)} />
          ) : rows.length > 0 && market !== undefined ? (
            <MarketTable
              {...{ name, rows, moved: market.moved, sort, isAscending, window, nowS, onSee }}
              onSort={onSort}
            />
          ) : isRead ? (
            <Empty>{isMover ? texts.markets.noMovers : texts.markets.empty}</Empty>
          ) : (
            <Skeleton rows={18} />
          )}
        </div>
        <LiveTape rows={busiest} nowS={Math.max(...(report?.chains ?? []).map(({ time }) => time))} />
      </div>
    </div>
  )
}

/** Places that were read again, before those that were not. A list read to its end has no others. */
function joinPlaces(old: Places | undefined, read: Places): Places {
  if (old?.name !== read.name || read.isWhole) return read
  const fresh = new Set(read.ids)
  const ids = [...read.ids, ...old.ids.filter((id) => !fresh.has(id))]
  return { ...read, ids: ids.slice(0, MAX_ROWS), isWhole: old.isWhole }
}

const rowsOf = (market: MarketRows, ids: readonly string[]): readonly Row[] =>
  ids.flatMap((id) => market.rows.get(id) ?? [])

/** What the server is asked for. */
function listOf(tab: Tab, sort: Sort, window: WindowName, isAscending: boolean): List {
  const order = orderOf(sort, window, isAscending)
  switch (tab) {
    case 'gainers':
      return { topic: 'gainer', window, ...order }
    case 'losers':
      return { topic: 'loser', window, ...order }
    case 'new':
      return { topic: 'new', ...order }
    default:
      return { topic: 'traded', ...order }
  }
}

function sortOf(tab: Tab, window: WindowName): Sort {
  switch (tab) {
    case 'gainers':
    case 'losers':
      return window
    case 'new':
      return 'age'
    case 'volume':
      return 'volume'
    case 'tvl':
      return 'tvl'
    case 'trending':
      return 'rank'
  }
}

function oneOf<T extends string>(values: readonly T[], value: string | null): T | undefined {
  return values.find((one) => one === value)
}
