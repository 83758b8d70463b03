import { walletPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { useEvery, useLoaded } from '../app/store.js'
import { texts } from '../app/texts.js'
import { directionOf, share, short, usd } from '../show/format.js'
import { Address, Await, Empty, ScrollRows } from '../show/parts.js'

const REFRESH_MS = 15_000
const TEN = 10

export function Holders({ tokenId, chain, pools }: { tokenId: string; chain: string; pools: readonly string[] }) {
  const holders = useLoaded((signal) => ask('tokensTop100', { token_id: tokenId, limit: 100 }, signal), [tokenId])
  useEvery(REFRESH_MS, holders.reload)
  const words = texts.holders
  return (
    <Await of={holders}>
      {(rows) => {
        if (rows.length === 0) return <Empty>{words.none}</Empty>
        const most = rows[0]?.balance_ratio ?? 1
        const ten = rows.slice(0, TEN).reduce((sum, { balance_ratio }) => sum + (balance_ratio ?? 0), 0)
        return (
          <ScrollRows label={texts.market.tabs.holders}>
            <p class="soft note">{words.top(share(ten))}</p>
            <table class="rows">
              <thead>
                <tr>
                  <th>{words.account}</th>
                  <th class="figure">{words.share}</th>
                  <th class="figure">{words.balance}</th>
                  <th class="figure">{words.value}</th>
                  <th class="figure wide">{words.trades}</th>
                  <th class="figure wide">{words.profit}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.holder}>
                    <td>
                      <Address address={row.holder} href={walletPath(chain, row.holder)} what={words.account} />{' '}
                      {pools.includes(row.holder) && <span class="mark good">{words.pool}</span>}
                    </td>
                    <td class="figure num">
                      {share(row.balance_ratio)}
                      <span class="part" aria-hidden="true">
                        <i style={{ width: `${Math.min(100, ((row.balance_ratio ?? 0) / most) * 100)}%` }} />
                      </span>
                    </td>
                    <td class="figure num">{short(row.amount_cur)}</td>
                    <td class="figure num">{usd(row.balance_usd)}</td>
                    <td class="figure num wide">
                      {row.buy_tx_count_cur} / {row.sell_tx_count_cur}
                    </td>
                    <td class={`figure num wide ${directionOf(row.total_profit)}`}>{usd(row.total_profit)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRows>
        )
      }}
    </Await>
  )
}
