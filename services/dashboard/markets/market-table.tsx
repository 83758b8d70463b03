/** A table of any length: only the rows in sight are in the document. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { go, tokenPath } from '../app/router.js'
import { useValue, type Value } from '../app/store.js'
import { texts } from '../app/texts.js'
import { directionOf, percent, short, shortAddress, usdShort } from '../show/format.js'
import { Age, Avatar, ChainMark, LivePrice, Sparkline } from '../show/parts.js'
import { RiskMarks } from '../show/risk-marks.js'
import { Star } from '../watchlist/star.js'
import { figureOf, type Row, type Sort, WINDOWS, type WindowName } from './market-rows.js'
import { lineOf, linesRead, wantLines } from './sparklines.js'

const ROW_PX = 42
const PHONE_ROW_PX = 56
const BEYOND = 3

/** Where each list was scrolled to, by its address; kept through a reload. */
const SCROLLS = 'dextape-scrolls'
const KEPT_SCROLLS = 20
const scrolls = readScrolls()
addEventListener('pagehide', () => sessionStorage.setItem(SCROLLS, JSON.stringify([...scrolls].slice(-KEPT_SCROLLS))))

function readScrolls(): Map<string, number> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(SCROLLS) ?? '[]') as [string, number][])
  } catch {
    return new Map()
  }
}

type Column = { sort: Sort; label: string; class: string }

export type TableProps = {
  /** Of the list and its order: another one starts at its top. */
  name: string
  rows: readonly Row[]
  moved: Value<number>
  sort: Sort
  isAscending: boolean
  window: WindowName
  nowS: (chain: string) => number
  onSort: (sort: Sort) => void
  /** Called with the ids of the rows in sight, once scrolling pauses. */
  onSee: (ids: readonly string[]) => void
}

export function MarketTable(props: TableProps) {
  const { rows, sort, isAscending, window, onSort } = props
  useValue(props.moved)
  useValue(linesRead)
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 900 })
  const [chosen, setChosen] = useState(-1)
  const rowPx = matchMedia('(max-width: 760px)').matches ? PHONE_ROW_PX : ROW_PX
  const first = Math.max(0, Math.floor(view.top / rowPx) - BEYOND)
  // A fixed number: rows that leave at one end are used again at the other.
  const slots = Math.ceil(view.height / rowPx) + 2 * BEYOND
  const last = Math.min(rows.length, first + slots)
  const shown = rows.slice(first, last)

  useLayoutEffect(() => {
    const box = scroller.current
    if (box === null) return undefined
    const look = () => {
      // In steps of a row: between them nothing changes.
      const [top, height] = [Math.floor(box.scrollTop / rowPx) * rowPx, box.clientHeight]
      setView((old) => (old.top === top && old.height === height ? old : { top, height }))
    }
    const onScroll = () => {
      scrolls.set(location.href, box.scrollTop)
      look()
    }
    const watching = new ResizeObserver(look)
    watching.observe(box)
    box.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      watching.disconnect()
      box.removeEventListener('scroll', onScroll)
    }
  }, [])
  const returnTo = useRef(scrolls.get(location.href) ?? 0)
  useLayoutEffect(() => {
    // The rows come page by page.
    if (returnTo.current === 0 || rows.length * rowPx < returnTo.current) return
    scroller.current?.scrollTo(0, returnTo.current)
    returnTo.current = 0
  }, [rows.length])
  const isFirstOrder = useRef(true)
  useLayoutEffect(() => {
    if (isFirstOrder.current) isFirstOrder.current = false
    else scroller.current?.scrollTo(0, 0)
  }, [props.name])
  const seen = shown.map(({ id }) => id).join()
  useEffect(() => {
    const timer = setTimeout(() => {
      props.onSee(shown.map(({ id }) => id))
      wantLines(shown.map(({ pairId }) => pairId))
    }, 100)
    return () => clearTimeout(timer)
  }, [seen])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const next = Math.min(rows.length - 1, Math.max(0, chosen + step))
      setChosen(next)
      const box = scroller.current
      if (box === null) return
      if (next * rowPx < box.scrollTop) box.scrollTop = next * rowPx
      const bottom = (next + 2) * rowPx - box.clientHeight
      if (bottom > box.scrollTop) box.scrollTop = bottom
    }
    const row = rows[chosen]
    if (event.key === 'Enter' && event.target === scroller.current && row !== undefined)
      go(tokenPath(row.token.chain, row.token.token))
  }

  const words = texts.markets.columns
  const columns: Column[] = [
    { sort: 'price', label: words.price, class: 'c-price' },
    { sort: 'age', label: words.age, class: 'c-age' },
    { sort: 'trades', label: words.trades, class: 'c-trades' },
    { sort: 'volume', label: words.volume, class: 'c-volume' },
    { sort: 'makers', label: words.makers, class: 'c-makers' },
    ...WINDOWS.map((name): Column => ({ sort: name, label: name, class: `c-change c-${name}` })),
    { sort: 'tvl', label: words.tvl, class: 'c-tvl' },
    { sort: 'cap', label: words.cap, class: 'c-cap' },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroller" ref={scroller} tabIndex={0} aria-label={texts.markets.title} onKeyDown={onKeyDown}>
      <table class={`markets w-${window}`} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th class="c-token" aria-sort={sort !== 'rank' ? 'none' : isAscending ? 'ascending' : 'descending'}>
              <button type="button" onClick={() => onSort('rank')}>
                {words.token}
              </button>
            </th>
            {columns.map((column) => (
              <th
                key={column.sort}
                class={`figure ${column.class}`}
                aria-sort={column.sort !== sort ? 'none' : isAscending ? 'ascending' : 'descending'}
              >
                <button type="button" onClick={() => onSort(column.sort)}>
                  {column.label}
                </button>
              </th>
            ))}
            <th class="figure c-line">{words.line}</th>
          </tr>
        </thead>
        <tbody aria-hidden="true">
          <tr style={{ height: `${first * rowPx}px` }} />
        </tbody>
        <tbody>
          {shown.map((row, at) => (
            <MarketRow
              key={(first + at) % slots}
              row={row}
              at={first + at}
              isChosen={first + at === chosen}
              {...props}
            />
          ))}
        </tbody>
        <tbody aria-hidden="true">
          <tr style={{ height: `${(rows.length - last) * rowPx}px` }} />
        </tbody>
      </table>
    </section>
  )
}

function MarketRow({ row, at, isChosen, window, nowS }: TableProps & { row: Row; at: number; isChosen: boolean }) {
  const { token } = row
  const symbol = token.symbol || shortAddress(token.token)
  const { buyShare } = row.windows[window]
  const shown = figureOf(row, window, window)
  const line = lineOf(row.pairId)
  const starred = { id: row.id, chain: token.chain, token: token.token, symbol, pairId: row.pairId }
  return (
    <tr aria-rowindex={at + 2} class={isChosen ? 'is-chosen' : ''}>
      <td class="c-token">
        <div class="name">
          <Star of={starred} />
          <span class="num rank">{at + 1}</span>
          <Avatar id={token.token} label={symbol} />
          <a href={tokenPath(token.chain, token.token)}>
            <span class="title">
              <b>{symbol}</b> <RiskMarks token={token} /> <span class="soft long">{token.name}</span>
            </span>
            <small>
              <ChainMark chain={token.chain} /> <span class="mono">{shortAddress(token.token)}</span>
            </small>
          </a>
        </div>
      </td>
      <td class="figure c-price">
        <LivePrice key={row.id} value={row.price} />
        <small class={`num only-phone ${directionOf(shown)}`}>{percent(shown)}</small>
      </td>
      <td class="figure c-age">
        <Age timeS={row.createdS} nowS={nowS(token.chain)} />
      </td>
      <td class="figure c-trades num">{short(figureOf(row, 'trades', window))}</td>
      <td class="figure c-volume num">
        {usdShort(figureOf(row, 'volume', window))}
        <span class="balance" aria-hidden="true">
          {Number.isFinite(buyShare) && <i style={{ width: `${Math.round(buyShare * 100)}%` }} />}
        </span>
      </td>
      <td class="figure c-makers num">{short(figureOf(row, 'makers', window))}</td>
      {WINDOWS.map((name) => {
        const change = figureOf(row, name, name)
        return (
          <td key={name} class={`figure num c-change c-${name} ${directionOf(change)}`}>
            {percent(change)}
          </td>
        )
      })}
      <td class="figure c-tvl num">{usdShort(row.tvl)}</td>
      <td class="figure c-cap num">{usdShort(row.cap)}</td>
      <td class="figure c-line">{line !== undefined && line.length > 1 && <Sparkline values={line} />}</td>
    </tr>
  )
}
