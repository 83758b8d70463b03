/** A token by its main pair, or one pair. */
import type { PairDetail, TokenDetail } from '@dextape/client'
import { useEffect, useState } from 'preact/hooks'
import { useFollow } from '../app/live.js'
import { pairPath, route, setQuery, tokenPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { status } from '../app/status.js'
import { useEvery, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { PriceChart } from '../chart/price-chart.js'
import { directionOf, percent, price, priceUsd, short, shortAddress, usdShort } from '../show/format.js'
import { Address, Avatar, Await, ChainMark, Change, Choices, Empty, Panel, ScrollRows } from '../show/parts.js'
import { RiskMarks } from '../show/risk-marks.js'
import { Star } from '../watchlist/star.js'
import { Facts, Links, WindowTable } from './facts.js'
import { Holders } from './holders.js'
import { Liquidity } from './liquidity.js'
import { PriceWithProvenance } from './provenance.js'
import { Risk } from './risk.js'
import { Trades } from './trades.js'

const TABS = ['trades', 'liquidity', 'pairs', 'holders', 'risk'] as const
type Tab = (typeof TABS)[number]
const REFRESH_MS = 5000

type Found = { detail: TokenDetail; pair: PairDetail }

/** Null: this server has not seen it. */
async function readMarket(kind: string, id: string, chain: string, signal: AbortSignal): Promise<Found | null> {
  if (kind === 'pair') {
    const pair = await ask('pairDetail', { pair_id: id }, signal)
    if (pair === null) return null
    const detail = await ask('tokenDetail', { token_id: `${pair.target_token}-${chain}` }, signal)
    return detail === null ? null : { detail, pair }
  }
  const detail = await ask('tokenDetail', { token_id: id }, signal)
  const main = detail?.token.main_pair || detail?.pairs[0]?.pair
  if (detail === null || main === undefined || main === '') return null
  const pair = await ask('pairDetail', { pair_id: `${main}-${chain}` }, signal)
  return pair === null ? null : { detail, pair }
}

export function MarketView() {
  const [kind = '', chain = '', address = ''] = useValue(route).parts
  const id = `${address}-${chain}`
  const market = useLoaded((signal) => readMarket(kind, id, chain, signal), [kind, id])
  useEvery(REFRESH_MS, market.reload)
  return (
    <Await of={market} rows={16}>
      {(found) =>
        found === null ? (
          <Empty>{kind === 'pair' ? texts.market.unknownPair : texts.market.unknownToken}</Empty>
        ) : (
          <Market key={`${kind} ${id}`} kind={kind === 'pair' ? 'pair' : 'token'} {...found} />
        )
      }
    </Await>
  )
}

function Market({ kind, detail, pair }: Found & { kind: 'pair' | 'token' }) {
  const { query } = useValue(route)
  const report = useValue(status)
  const { token } = detail
  const { chain } = pair
  const tab = TABS.find((value) => value === query.get('tab')) ?? 'trades'
  const [live, setLive] = useState<{ price: string; change: string } | undefined>(undefined)
  const pairId = `${pair.pair}-${chain}`
  useFollow(
    ['price', [pairId]],
    (item) => {
      if (item.topic !== 'price') return
      const entry = item.prices.find((one) => one.pair === pair.pair)
      if (entry !== undefined) setLive({ price: entry.uprice, change: entry.price_change_24h })
    },
    { snapshot: true },
  )
  const isTarget0 = pair.target_token === pair.token0_address
  const now = live?.price ?? (isTarget0 ? pair.token0_price_usd : pair.token1_price_usd)
  const symbol = token.symbol || shortAddress(token.token)
  const quote = isTarget0 ? pair.token1_symbol : pair.token0_symbol
  useEffect(() => {
    document.title = `${symbol} $${price(now)} · ${texts.name}`
  }, [symbol, now])
  const nowS = report?.chains.find((one) => one.chain === chain)?.time ?? pair.updated_at
  const tokenId = `${token.token}-${chain}`
  const starred = { id: tokenId, chain, token: token.token, symbol, pairId }
  const nativeSymbol = useLoaded((signal) => ask('supportedChains', {}, signal), [])
  const native =
    nativeSymbol.kind === 'ready' ? nativeSymbol.data.find((one) => one.chain === chain)?.native_symbol : undefined
  const words = texts.market
  return (
    <div class="market">
      <header class="market-head">
        <Avatar id={token.token} label={symbol} size={34} />
        <div class="market-name">
          <h1>
            {symbol}
            <span class="soft"> / {quote}</span>
          </h1>
          <p class="soft">
            {token.name} · <ChainMark chain={chain} /> · {pair.amm} ·{' '}
            <Address address={token.token} what={words.facts.token} />
          </p>
        </div>
        <Star of={starred} />
        <span class="head-marks">
          <RiskMarks token={token} all />
        </span>
        <div class="market-price">
          <PriceWithProvenance value={now} pairId={pairId} />
          <Change value={live?.change ?? pair.price_change_24h} />
        </div>
        <dl class="head-facts">
          <HeadFact name={words.facts.cap} value={usdShort(token.market_cap)} />
          <HeadFact name={words.facts.tvl} value={usdShort(pair.tvl)} />
          <HeadFact name="24 h" value={usdShort(pair.volume_u_24h)} />
        </dl>
        <a class="button" href={`/compare?ids=${encodeURIComponent(tokenId)}`}>
          {words.compare}
        </a>
      </header>
      <div class="market-grid">
        <div class="market-main">
          <PriceChart
            of={kind === 'pair' ? { kind, id: pairId } : { kind, id: tokenId }}
            pair={pair.pair}
            chain={chain}
            name={symbol}
            symbols={{
              u: 'USD',
              m: native === undefined || native === quote ? texts.chart.currencies.m : native,
              r: quote || texts.chart.currencies.r,
            }}
          />
          <section class="panel" aria-label={words.tabs[tab]}>
            <header class="panel-head">
              <Choices<Tab>
                label={words.sections}
                value={tab}
                onChoose={(value) => setQuery({ tab: value === 'trades' ? undefined : value })}
                options={TABS.map((value) => ({ value, label: words.tabs[value] }))}
              />
            </header>
            {tab === 'trades' && <Trades pair={pair.pair} chain={chain} target={pair.target_token} nowS={nowS} />}
            {tab === 'liquidity' && <Liquidity pair={pair.pair} chain={chain} nowS={nowS} />}
            {tab === 'pairs' && <Pairs detail={detail} />}
            {tab === 'holders' && <Holders {...{ tokenId, chain }} pools={detail.pairs.map((one) => one.pair)} />}
            {tab === 'risk' && <Risk tokenId={tokenId} chain={chain} />}
          </section>
        </div>
        <aside class="market-side">
          <Panel title={symbol}>
            <Facts token={token} pair={pair} />
          </Panel>
          <WindowTable pair={pair} />
          <Links appendix={token.appendix} />
        </aside>
      </div>
    </div>
  )
}

function HeadFact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="num">{value}</dd>
    </div>
  )
}

function Pairs({ detail: { pairs, token } }: { detail: TokenDetail }) {
  const columns = texts.markets.columns
  return (
    <ScrollRows label={texts.market.tabs.pairs}>
      <table class="rows">
        <thead>
          <tr>
            <th>{texts.market.facts.pair}</th>
            <th class="wide">{texts.market.facts.exchange}</th>
            <th class="figure">{columns.price}</th>
            <th class="figure">24h</th>
            <th class="figure">{columns.volume}</th>
            <th class="figure wide">{columns.trades}</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((one) => {
            const is0 = one.token0_address === token.token
            const other = is0 ? one.token1_symbol : one.token0_symbol
            return (
              <tr key={one.pair}>
                <td>
                  <a href={pairPath(one.chain, one.pair)}>
                    <b>{token.symbol}</b> / {other}
                  </a>{' '}
                  <Address address={one.pair} what={texts.market.facts.pair} />{' '}
                  {one.pair === token.main_pair && <span class="mark good">{texts.market.facts.main}</span>}
                  {one.target_token !== token.token && (
                    <a class="soft" href={tokenPath(one.chain, one.target_token)}>
                      {texts.market.otherToken}
                    </a>
                  )}
                </td>
                <td class="soft wide">{one.amm}</td>
                <td class="figure num">{priceUsd(is0 ? one.token0_price_usd : one.token1_price_usd)}</td>
                <td class={`figure num ${directionOf(one.price_change_24h)}`}>{percent(one.price_change_24h)}</td>
                <td class="figure num">{usdShort(one.volume_u)}</td>
                <td class="figure num wide">{short(one.tx_count)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollRows>
  )
}
