import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { route, setQuery } from '../app/router.js'
import { session } from '../app/session.js'
import { status } from '../app/status.js'
import { createValue, useEvery, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { whole } from '../show/format.js'
import { Choices, Empty, Failed, Skeleton } from '../show/parts.js'
import { LiveTape } from './live-tape.js'
import {
  createMarketRows,
  type List,
  type MarketRows,
  orderOf,
  SORTS,
  type Sort,
  sortRows,
  WINDOWS,
  type WindowName,
} from './market-rows.js'
import { MarketTable } from './market-table.js'

const TABS = ['trending', 'gainers', 'losers', 'new', 'volume', 'tvl'] as const
type Tab = (typeof TABS)[number]
const TAPE_PAIRS = 24
const REFRESH_MS = 15_000
/** Places of a list that the server sorts: at first, and once the later of them come into sight. */
const FIRST_PLACES = 100
const MORE_PLACES = 300
const NEARLY_ALL = 70
const NEVER = createValue({ count: 0, isDone: false })

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
  const [limit, setLimit] = useState(FIRST_PLACES)
  const [top, setTop] = useState<{ name: string; ids: readonly string[] } | undefined>(undefined)
  const list = listOf(tab, sort, window, isAscending)
  const name = JSON.stringify([chain, list])
  const current = useRef(name)
  current.current = name
  const wanted = (chain === '' ? known : [chain]).join()

  useEffect(() => {
    document.title = `${texts.markets.title} · ${texts.name}`
  }, [])
  useEffect(() => {
    if (open.kind !== 'open') return undefined
    const made = createMarketRows(chain === '' ? undefined : chain)
    setMarket(made)
    setError(undefined)
    return () => made.close()
  }, [chain, open, turn])
  const readTop = async () => {
    try {
      const ids = await market?.readTop({ ...list, limit })
      if (ids === undefined || current.current !== name) return
      setTop({ name, ids })
      setError(undefined)
    } catch (failure) {
      if (market?.isClosed() === false) setError(failure)
    }
  }
  useEffect(() => void readTop(), [market, name, limit])
  useEffect(() => {
    if (wanted !== '') market?.load(wanted.split(',')).catch((failure) => market.isClosed() || setError(failure))
  }, [market, wanted])

  const loaded = useValue(market?.loaded ?? NEVER)
  const isMover = tab === 'gainers' || tab === 'losers'
  const rows = useMemo(() => {
    const all = [...(market?.rows.values() ?? [])]
    if (!isMover) return sortRows(all, sort, window, isAscending)
    const listed = new Set(top?.name === name ? top.ids : [])
    return sortRows(
      all.filter(({ id }) => listed.has(id)),
      ...([sort, window, isAscending] as const),
    )
  }, [market, loaded, name, top])
  const busiest = useMemo(
    () => sortRows(market?.rows.values() ?? [], 'rank', '24h', false).slice(0, TAPE_PAIRS),
    [market, loaded.isDone],
  )
  // An order by a window needs the figures of all rows; else those in sight are enough.
  const needsAll = window !== '24h' ? sort !== 'rank' : ['5m', '1h', '4h', 'makers'].includes(sort)
  const seen = useRef<readonly string[]>([])
  useEffect(() => {
    if (needsAll && !isMover && loaded.isDone) market?.wantWindows([...market.rows.keys()]).catch(() => {})
  }, [needsAll, isMover, loaded.isDone, market])
  useEvery(REFRESH_MS, () => {
    void readTop()
    const fresh = new Set(top?.ids)
    market?.readWindows(seen.current.filter((id) => !fresh.has(id))).catch(() => {})
  })
  const onSee = (ids: readonly string[]) => {
    seen.current = ids
    const last = rows.findIndex(({ id }) => id === ids.at(-1))
    if (last > NEARLY_ALL) setLimit(MORE_PLACES)
    market?.wantWindows(ids).catch(() => {})
  }
  const isReady = isMover ? top?.name === name : loaded.isDone
  const hasMore = isMover && top?.name === name && top.ids.length === limit
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
          {texts.markets.count(`${whole(rows.length)}${hasMore ? '+' : ''}`)}
          {market !== undefined && !loaded.isDone && ` · ${texts.markets.loadingMore}`}
        </span>
      </div>
      <div class="floor">
        <div class="panel table-panel">
          {error !== undefined && rows.length === 0 ? (
            <Failed error={error} onRetry={() => setTurn(turn + 1)} />
          ) : rows.length > 0 && market !== undefined ? (
            <MarketTable
              {...{ rows, moved: market.moved, sort, isAscending, window, nowS, onSee }}
              onSort={(value) =>
                setQuery(
                  value === sort ? { sort: value, dir: isAscending ? 'desc' : 'asc' } : { sort: value, dir: undefined },
                )
              }
            />
          ) : isReady ? (
            <Empty>{isMover ? texts.markets.noMovers : texts.markets.empty}</Empty>
          ) : (
            <Skeleton rows={18} />
          )}
        </div>
        <LiveTape rows={busiest} nowS={nowS} />
      </div>
    </div>
  )
}

/** What the server is asked for. */
function listOf(tab: Tab, sort: Sort, window: WindowName, isAscending: boolean): List {
  const order = orderOf(sort, window, isAscending)
  switch (tab) {
    case 'gainers':
      return { topic: 'gainer', ...order, window }
    case 'losers':
      return { topic: 'loser', ...order, window }
    case 'new':
      return { topic: 'new', ...order }
    default:
      return { topic: sort === 'rank' ? 'hot' : 'traded', ...order }
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
