/** What an account holds, earned and did. */
import type { AddressWalletinfo, AddressWalletinfoTokensItem } from '@dextape/client'
import { useEffect } from 'preact/hooks'
import { route, tokenPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { status } from '../app/status.js'
import { useEvery, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import {
  directionOf,
  type Figure,
  percent,
  price,
  short,
  shortAddress,
  span,
  toNumber,
  usd,
  whole,
} from '../show/format.js'
import { Address, Avatar, Await, ChainMark, Empty, Panel, ScrollRows } from '../show/parts.js'
import { Activity } from './wallet-activity.js'
import { WalletTrades } from './wallet-trades.js'

const REFRESH_MS = 10_000

export function WalletView() {
  const [, chain = '', address = ''] = useValue(route).parts
  const who = { wallet_address: address, chain }
  const place = `${address}-${chain}`
  const info = useLoaded((signal) => ask('addressWalletinfo', who, signal), [place])
  const positions = useLoaded(
    (signal) =>
      ask('addressWalletinfoTokens', { ...who, sort: 'total_profit', sort_dir: 'desc', pageSize: 100 }, signal),
    [place],
  )
  useEvery(REFRESH_MS, () => {
    info.reload()
    positions.reload()
  })
  useEffect(() => {
    document.title = `${texts.wallet.title} ${shortAddress(address)} · ${texts.name}`
  }, [address])
  const nowS = useValue(status)?.chains.find((one) => one.chain === chain)?.time ?? Date.now() / 1000
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
      <Await of={info} rows={4}>
        {(data) => <Summary info={data} />}
      </Await>
      <Panel title={words.positions}>
        <Await of={positions} rows={4}>
          {(rows) => <Positions rows={rows} />}
        </Await>
      </Panel>
      <Panel title={words.activity}>
        <Activity key={place} {...{ address, chain, nowS }} />
      </Panel>
      <Panel title={words.trades}>
        <WalletTrades key={place} {...{ address, chain, nowS }} />
      </Panel>
    </div>
  )
}

function Summary({ info }: { info: AddressWalletinfo }) {
  const words = texts.wallet
  const facts: [string, string, Figure?][] = [
    [words.balance, usd(info.total_balance)],
    [words.profit, usd(info.total_profit), info.total_profit],
    [words.ratio, percent(toNumber(info.total_profit_ratio) * 100), info.total_profit_ratio],
    [words.winRate, percent(toNumber(info.total_win_ratio) * 100).replace('+', '')],
    [words.bought, whole(info.total_purchase)],
    [words.sold, whole(info.total_sold)],
    [words.age, info.first_trade_time > 0 ? span(info.wallet_age) : '–'],
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

function Positions({ rows }: { rows: readonly AddressWalletinfoTokensItem[] }) {
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
