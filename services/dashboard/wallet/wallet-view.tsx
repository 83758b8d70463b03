/** What an account holds, earned and did. */
import { DextapeError } from '@dextape/client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { route, tokenPath } from '../app/router.js'
import { askPath } from '../app/session.js'
import { status } from '../app/status.js'
import { type Loaded, useEvery, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { directionOf, type Figure, percent, price, short, shortAddress, toNumber, usd, whole } from '../show/format.js'
import { Address, Age, Avatar, Await, ChainMark, Empty, Panel, ScrollRows } from '../show/parts.js'

type Info = Record<
  'total_balance' | 'total_profit' | 'total_profit_ratio' | 'total_purchase' | 'total_sold' | 'total_win_ratio',
  Figure
> & { wallet_age?: Figure }
type Position = Record<
  | 'balance_amount'
  | 'balance_usd'
  | 'current_price_usd'
  | 'average_purchase_price_usd'
  | 'average_sold_price_usd'
  | 'realized_profit'
  | 'unrealized_profit'
  | 'total_profit'
  | 'total_profit_ratio',
  Figure
> & { token: string; symbol: string; chain: string }
type Trade = {
  id?: string
  tx_hash: string
  time: number | string
  from_symbol: string
  to_symbol: string
  from_amount: Figure
  to_amount: Figure
  amount_usd: Figure
  tx_swap_type: number
}

const REFRESH_MS = 10_000
const DAY_S = 86_400
const DAYS = 15

/** Undefined: this server has no such operation. */
async function readOptional<T>(path: string, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await askPath<T>(path, signal)
  } catch (error) {
    if (error instanceof DextapeError && error.status === 404) return undefined
    throw error
  }
}

export function WalletView() {
  const [, chain = '', address = ''] = useValue(route).parts
  const who = new URLSearchParams({ wallet_address: address, chain }).toString()
  const info = useLoaded((signal) => readOptional<Info>(`/v2/address/walletinfo?${who}`, signal), [who])
  const positions = useLoaded(
    (signal) =>
      readOptional<Position[]>(
        `/v2/address/walletinfo/tokens?${who}&sort=total_profit&sort_dir=desc&pageSize=100`,
        signal,
      ),
    [who],
  )
  const trades = useLoaded(
    (signal) => readOptional<{ result: Trade[] }>(`/v2/address/tx?${who}&page_size=100`, signal),
    [who],
  )
  useEvery(REFRESH_MS, () => {
    info.reload()
    positions.reload()
    trades.reload()
  })
  useEffect(() => {
    document.title = `${texts.wallet.title} ${shortAddress(address)} · ${texts.name}`
  }, [address])
  const words = texts.wallet
  return (
    <div class="wallet">
      <header class="market-head">
        <Avatar id={address} label="@" size={34} />
        <div class="market-name">
          <h1>{words.title}</h1>
          <p class="soft">
            <ChainMark chain={chain} /> · <Address address={address} what={words.title} />
          </p>
        </div>
      </header>
      <Optional of={info}>{(data) => <Summary info={data} />}</Optional>
      <Panel title={words.positions}>
        <Optional of={positions}>{(rows) => <Positions rows={rows} />}</Optional>
      </Panel>
      <Panel title={words.activity}>
        <Optional of={trades}>{({ result }) => <Activity trades={result} chain={chain} />}</Optional>
      </Panel>
      <Panel title={words.trades}>
        <Optional of={trades}>{({ result }) => <TradeList trades={result} chain={chain} />}</Optional>
      </Panel>
    </div>
  )
}

function Optional<T>(given: {
  of: Loaded<T | undefined> & { reload(): void }
  children: (data: T) => ComponentChildren
}) {
  return (
    <Await of={given.of} rows={4}>
      {(data) => (data === undefined ? <Empty>{texts.wallet.missing}</Empty> : given.children(data))}
    </Await>
  )
}

function Summary({ info }: { info: Info }) {
  const words = texts.wallet
  const facts: [string, string, Figure?][] = [
    [words.balance, usd(info.total_balance)],
    [words.profit, usd(info.total_profit), info.total_profit],
    [words.ratio, percent(toNumber(info.total_profit_ratio) * 100), info.total_profit_ratio],
    [words.winRate, percent(toNumber(info.total_win_ratio) * 100).replace('+', '')],
    [words.bought, whole(info.total_purchase)],
    [words.sold, whole(info.total_sold)],
  ]
  return (
    <dl class="panel tiles">
      {facts.map(([name, value, tone]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={`num ${tone === undefined ? '' : directionOf(tone)}`}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Positions({ rows }: { rows: readonly Position[] }) {
  const words = texts.wallet
  if (rows.length === 0) return <Empty>{words.noPositions}</Empty>
  return (
    <ScrollRows label={words.positions}>
      <table class="rows">
        <thead>
          <tr>
            <th>{words.token}</th>
            <th class="figure">{words.balance}</th>
            <th class="figure wide">{words.avgBuy}</th>
            <th class="figure wide">{words.avgSell}</th>
            <th class="figure wide">{words.realized}</th>
            <th class="figure wide">{words.unrealized}</th>
            <th class="figure">{words.profit}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.token}-${row.chain}`}>
              <td>
                <a href={tokenPath(row.chain, row.token)}>
                  <b>{row.symbol || shortAddress(row.token)}</b>
                </a>{' '}
                <span class="soft num">{short(row.balance_amount)}</span>
              </td>
              <td class="figure num">{usd(row.balance_usd)}</td>
              <td class="figure num wide">{price(row.average_purchase_price_usd)}</td>
              <td class="figure num wide">{price(row.average_sold_price_usd)}</td>
              <td class={`figure num wide ${directionOf(row.realized_profit)}`}>{usd(row.realized_profit)}</td>
              <td class={`figure num wide ${directionOf(row.unrealized_profit)}`}>{usd(row.unrealized_profit)}</td>
              <td class={`figure num ${directionOf(row.total_profit)}`}>{usd(row.total_profit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRows>
  )
}

/** Times are epoch seconds, or RFC 3339. */
const secondsOf = (time: number | string): number =>
  Number.isFinite(Number(time)) ? Number(time) : Math.floor(Date.parse(String(time)) / 1000)

function Activity({ trades, chain }: { trades: readonly Trade[]; chain: string }) {
  const nowS = useValue(status)?.chains.find((one) => one.chain === chain)?.time ?? Date.now() / 1000
  const last = Math.floor(nowS / DAY_S)
  const days = Array.from({ length: DAYS }, (_, at) => last - DAYS + 1 + at)
  const counts = days.map((day) => {
    const ofDay = trades.filter(({ time }) => Math.floor(secondsOf(time) / DAY_S) === day)
    return { day, buys: ofDay.filter((one) => one.tx_swap_type === 0).length, all: ofDay.length }
  })
  const most = Math.max(1, ...counts.map(({ all }) => all))
  return (
    <ol class="days">
      {counts.map(({ day, buys, all }) => {
        const date = new Date(day * DAY_S * 1000).toISOString().slice(0, 10)
        return (
          <li key={day} title={`${date}: ${buys} ${texts.trades.buy}, ${all - buys} ${texts.trades.sell}`}>
            <span class="bar-up" style={{ height: `${(buys / most) * 56}px` }} />
            <span class="bar-down" style={{ height: `${((all - buys) / most) * 56}px` }} />
            <small class="soft num">{date.slice(8)}</small>
          </li>
        )
      })}
    </ol>
  )
}

function TradeList({ trades, chain }: { trades: readonly Trade[]; chain: string }) {
  const nowS = useValue(status)?.chains.find((one) => one.chain === chain)?.time ?? Date.now() / 1000
  const words = texts.wallet
  if (trades.length === 0) return <Empty>{words.noTrades}</Empty>
  return (
    <ScrollRows label={words.trades}>
      <table class="rows">
        <thead>
          <tr>
            <th>{texts.trades.age}</th>
            <th>{texts.trades.side}</th>
            <th class="figure">{words.paid}</th>
            <th class="figure">{words.received}</th>
            <th class="figure">{texts.trades.value}</th>
          </tr>
        </thead>
        <tbody>
          {trades.map((trade, at) => (
            <tr key={trade.id ?? `${trade.tx_hash} ${at}`} title={trade.tx_hash}>
              <td>
                <Age timeS={secondsOf(trade.time)} nowS={nowS} />
              </td>
              <td class={`side ${trade.tx_swap_type === 0 ? 'up' : 'down'}`}>
                {trade.tx_swap_type === 0 ? texts.trades.buy : texts.trades.sell}
              </td>
              <td class="figure num">
                {short(trade.from_amount)} {trade.from_symbol}
              </td>
              <td class="figure num">
                {short(trade.to_amount)} {trade.to_symbol}
              </td>
              <td class="figure num">{usd(trade.amount_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRows>
  )
}
