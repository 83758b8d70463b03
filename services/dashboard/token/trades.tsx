/** The tape of a pair: live, filtered, and back into history. */
import { useEffect, useState } from 'preact/hooks'
import { useFollow } from '../app/live.js'
import { walletPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { clock } from '../app/settings.js'
import { useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { dateTime, price, short, toNumber, usd, whole } from '../show/format.js'
import { Address, Age, Choices, Empty, Failed, ScrollRows, Skeleton } from '../show/parts.js'
import { pushedTrade, readTrade, type TradeRow } from './trade-rows.js'
import { useRows } from './use-rows.js'

type Side = 'all' | 'buy' | 'sell'
type Props = { pair: string; chain: string; target: string; nowS: number }

const PAGE = 100
const WHALE_USD = 25_000
/** A filter reads back by itself until it has this many rows, or has read this many pages. */
const ENOUGH = 30
const MOST_PAGES = 20

export function Trades({ pair, chain, target, nowS }: Props) {
  const pairId = `${pair}-${chain}`
  const [side, setSide] = useState<Side>('all')
  const [least, setLeast] = useState('')
  const [wallet, setWallet] = useState('')
  const [held, setHeld] = useState<TradeRow[] | undefined>(undefined)
  const list = useRows(pairId, async (from, signal) => {
    const params = { pair_id: pairId, limit: PAGE, sort: 'desc' as const, ...from }
    const { txs, next_cursor } = await ask('txsSwap', params, signal)
    return { rows: txs.map((swap) => readTrade(swap, target)), cursor: next_cursor }
  })
  useFollow(
    ['tx', pair, chain],
    (item) => {
      if (item.topic === 'tx') list.add([pushedTrade(item.tx)])
      else if (item.topic === 'retract') list.markRemoved(item.ids)
      else if (item.topic === 'refill') {
        list.markRemoved(item.retracted)
        list.add(item.items.map((swap) => readTrade(swap, target)))
      }
    },
    {},
    // Between the first page and the start of the pushes there may have been more.
    list.reload,
  )
  // While paused, what is older still comes.
  const rows = held === undefined ? list.rows : list.rows.slice(newerThan(held[0], list.rows))
  const leastUsd = Number(least) || 0
  const shown = rows.filter(
    (row) =>
      (side === 'all' || row.isBuy === (side === 'buy')) &&
      (leastUsd === 0 || toNumber(row.valueUsd) >= leastUsd) &&
      (wallet === '' || row.wallet.toLowerCase().includes(wallet.trim().toLowerCase())),
  )
  const isFiltered = side !== 'all' || leastUsd > 0 || wallet !== ''
  const filter = `${side} ${leastUsd} ${wallet}`
  const [searched, setSearched] = useState({ filter, pages: 0 })
  const pages = searched.filter === filter ? searched.pages : 0
  useEffect(() => {
    if (!isFiltered || list.state !== 'ready' || shown.length >= ENOUGH || pages >= MOST_PAGES) return
    setSearched({ filter, pages: pages + 1 })
    list.readOlder()
  }, [filter, list.state, shown.length, pages])
  const words = texts.trades
  return (
    <>
      <div class="filters">
        <Choices<Side>
          label={words.sideFilter}
          value={side}
          onChoose={setSide}
          options={[
            { value: 'all', label: words.all },
            { value: 'buy', label: words.buy },
            { value: 'sell', label: words.sell },
          ]}
        />
        <input
          {...{ type: 'number', min: 0, placeholder: words.minimum, 'aria-label': words.minimum, value: least }}
          onInput={({ currentTarget }) => setLeast(currentTarget.value)}
        />
        <input
          {...{ placeholder: words.walletFilter, 'aria-label': words.walletFilter, value: wallet, spellcheck: false }}
          onInput={({ currentTarget }) => setWallet(currentTarget.value)}
        />
        <button
          type="button"
          aria-pressed={held !== undefined}
          onClick={() => setHeld(held === undefined ? list.rows : undefined)}
        >
          {held === undefined ? words.pause : words.resume}
        </button>
        {held !== undefined && <span class="soft num">{words.waiting(newerThan(held[0], list.rows))}</span>}
      </div>
      {list.error !== undefined && rows.length === 0 ? (
        <Failed error={list.error} onRetry={list.reload} />
      ) : list.state === 'loading' && rows.length === 0 ? (
        <Skeleton rows={8} />
      ) : (
        <ScrollRows label={texts.market.tabs.trades}>
          <table class="rows trades">
            <thead>
              <tr>
                <th>{words.age}</th>
                <th>{words.side}</th>
                <th class="figure">{words.price}</th>
                <th class="figure">{words.amount}</th>
                <th class="figure">{words.value}</th>
                <th>{words.wallet}</th>
                <th class="figure wide">{words.block}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <Trade key={row.id} {...{ row, chain, nowS }} />
              ))}
            </tbody>
          </table>
          {rows.length === 0 && <Empty>{words.none}</Empty>}
          {rows.length > 0 && shown.length === 0 && (
            <Empty>
              {list.state === 'all' || pages >= MOST_PAGES ? words.noneMatch(whole(rows.length)) : words.searching}
            </Empty>
          )}
          <More {...list} />
        </ScrollRows>
      )}
    </>
  )
}

/** Rows above the first of the held ones. */
function newerThan(first: TradeRow | undefined, rows: readonly TradeRow[]): number {
  return Math.max(
    0,
    rows.findIndex(({ id }) => id === first?.id),
  )
}

export function More({ state, readOlder }: { state: string; readOlder: () => void }) {
  const words = texts.trades
  if (state === 'all') return <p class="empty soft">{words.noMore}</p>
  return (
    <p class="more">
      <button type="button" disabled={state !== 'ready'} onClick={readOlder}>
        {state === 'ready' ? words.older : words.loadingOlder}
      </button>
    </p>
  )
}

function Trade({ row, chain, nowS }: { row: TradeRow; chain: string; nowS: number }) {
  const isLocal = useValue(clock) === 'local'
  const words = texts.trades
  const isWhale = toNumber(row.valueUsd) >= WHALE_USD
  return (
    <tr
      class={`${row.isRemoved ? 'is-removed' : ''} ${isWhale ? 'is-whale' : ''}`}
      title={row.isRemoved ? words.removed : dateTime(row.timeS, isLocal)}
      data-id={row.id}
    >
      <td>
        <Age timeS={row.timeS} nowS={nowS} />
      </td>
      <td class={`side ${row.isBuy ? 'up' : 'down'}`}>{row.isBuy ? words.buy : words.sell}</td>
      <td class="figure num">{price(row.priceUsd)}</td>
      <td class="figure num">{short(row.amount)}</td>
      <td class={`figure num ${row.isBuy ? 'up' : 'down'}`}>{usd(row.valueUsd)}</td>
      <td>
        <Address address={row.wallet} href={walletPath(chain, row.wallet)} what={words.wallet} />
      </td>
      <td class="figure num soft wide">{whole(row.block)}</td>
    </tr>
  )
}
