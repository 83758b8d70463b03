/** What stands beside the chart: figures, windows, links. */
import type { PairDetail, TokenDetailToken } from '@dextape/client'
import { pairPath, tokenPath } from '../app/router.js'
import { texts } from '../app/texts.js'
import { directionOf, type Figure, percent, priceUsd, short, usdShort, whole } from '../show/format.js'
import { Address, Panel, When } from '../show/parts.js'

const WINDOWS = ['5m', '1h', '4h', '24h'] as const

export function Facts({ token, pair }: { token: TokenDetailToken; pair: PairDetail }) {
  const words = texts.market.facts
  const isTarget0 = pair.target_token === pair.token0_address
  const quote = isTarget0 ? pair.token1_address : pair.token0_address
  const quoteSymbol = isTarget0 ? pair.token1_symbol : pair.token0_symbol
  return (
    <dl class="facts">
      <Fact name={words.cap} value={usdShort(token.market_cap)} />
      <Fact name={words.fdv} value={usdShort(token.fdv)} />
      <Fact name={words.tvl} value={usdShort(pair.tvl)} />
      <Fact name={words.supply} value={short(token.total)} />
      <Fact name={words.holders} value={whole(token.holders)} />
      <Fact name={words.high} value={priceUsd(pair.high_u)} />
      <Fact name={words.low} value={priceUsd(pair.low_u)} />
      <Fact name={words.ath} value={priceUsd(pair.price_ath_u)} />
      <Fact
        name={words.reserves}
        value={`${short(pair.reserve0)} ${pair.token0_symbol} · ${short(pair.reserve1)} ${pair.token1_symbol}`}
      />
      <dt>{words.created}</dt>
      <dd>
        <When timeS={pair.created_at} />
      </dd>
      {token.issue_platform !== '' && <Fact name={words.platform} value={token.issue_platform} />}
      <dt>{words.token}</dt>
      <dd>
        <Address address={token.token} href={tokenPath(token.chain, token.token)} what={words.token} />
      </dd>
      <dt>{words.pair}</dt>
      <dd>
        <Address address={pair.pair} href={pairPath(pair.chain, pair.pair)} what={words.pair} />
      </dd>
      <dt>
        {words.quote} {quoteSymbol}
      </dt>
      <dd>
        <Address address={quote} href={tokenPath(pair.chain, quote)} what={words.quote} />
      </dd>
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="num">{value}</dd>
    </>
  )
}

export function WindowTable({ pair }: { pair: PairDetail }) {
  const words = texts.market.stats
  const rows: [string, (name: (typeof WINDOWS)[number]) => string, ((name: (typeof WINDOWS)[number]) => Figure)?][] = [
    [words.change, (name) => percent(pair[`price_change_${name}`]), (name) => pair[`price_change_${name}`]],
    [words.volume, (name) => usdShort(pair[`volume_u_${name}`])],
    [words.buyVolume, (name) => usdShort(pair[`buy_volume_u_${name}`])],
    [words.sellVolume, (name) => usdShort(pair[`sell_volume_u_${name}`])],
    [words.buys, (name) => short(pair[`buys_tx_${name}_count`])],
    [words.sells, (name) => short(pair[`sells_tx_${name}_count`])],
    [words.makers, (name) => short(pair[`makers_${name}`])],
  ]
  return (
    <Panel title={texts.market.windows}>
      <table class="rows windows">
        <thead>
          <tr>
            <td />
            {WINDOWS.map((name) => (
              <th key={name} class="figure" scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, text, tone]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {WINDOWS.map((name) => (
                <td key={name} class={`figure num ${tone === undefined ? '' : directionOf(tone(name))}`}>
                  {text(name)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

/** From the token's own metadata: anyone can write anything there. */
export function Links({ appendix }: { appendix: string }) {
  const links = readLinks(appendix)
  if (links.length === 0) return null
  return (
    <Panel title={texts.market.links}>
      <ul class="links">
        {links.map(({ name, url }) => (
          <li key={name}>
            <a href={url} target="_blank" rel="noreferrer noopener nofollow">
              {name} <span class="soft">{new URL(url).host}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="soft note">{texts.market.unverified}</p>
    </Panel>
  )
}

function readLinks(appendix: string): { name: string; url: string }[] {
  try {
    const found: unknown = JSON.parse(appendix)
    return Object.entries(Object(found)).flatMap(([name, url]) =>
      typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url) ? [{ name, url }] : [],
    )
  } catch {
    return []
  }
}
