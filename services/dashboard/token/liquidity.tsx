import { useFollow } from '../app/live.js'
import { walletPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { texts } from '../app/texts.js'
import { short, usd } from '../show/format.js'
import { Address, Age, Empty, Failed, ScrollRows, Skeleton } from '../show/parts.js'
import { liquidityRow } from './trade-rows.js'
import { More } from './trades.js'
import { useRows } from './use-rows.js'

const PAGE = 100

export function Liquidity({ pair, chain, nowS }: { pair: string; chain: string; nowS: number }) {
  const pairId = `${pair}-${chain}`
  const list = useRows(pairId, async (from, signal) => {
    const params = { pair_id: pairId, limit: PAGE, sort: 'desc' as const, ...from }
    const { txs, next_cursor } = await ask('txsLiq', params, signal)
    return { rows: txs.map(liquidityRow), cursor: next_cursor }
  })
  useFollow(
    ['liq', pair, chain],
    (item) => {
      if (item.topic === 'liq') list.add([liquidityRow(item.tx)])
      else if (item.topic === 'retract') list.markRemoved(item.ids)
      else if (item.topic === 'refill') {
        list.markRemoved(item.retracted)
        list.add(item.items.map(liquidityRow))
      }
    },
    {},
    // Between the first page and the start of the pushes there may have been more.
    list.reload,
  )
  const words = texts.trades
  if (list.error !== undefined && list.rows.length === 0) return <Failed error={list.error} onRetry={list.reload} />
  if (list.state === 'loading' && list.rows.length === 0) return <Skeleton rows={6} />
  return (
    <ScrollRows label={texts.market.tabs.liquidity}>
      <table class="rows">
        <thead>
          <tr>
            <th>{words.age}</th>
            <th>{words.kind}</th>
            <th class="figure">{words.amount}</th>
            <th class="figure">{words.value}</th>
            <th>{words.wallet}</th>
          </tr>
        </thead>
        <tbody>
          {list.rows.map((row) => (
            <tr key={row.id} class={row.isRemoved ? 'is-removed' : ''} title={row.isRemoved ? words.removed : ''}>
              <td>
                <Age timeS={row.timeS} nowS={nowS} />
              </td>
              <td class={`side ${row.type === 'removeLiquidity' ? 'down' : 'up'}`}>{words.types[row.type]}</td>
              <td class="figure num">
                {short(row.amount0)} {row.token0_symbol} + {short(row.amount1)} {row.token1_symbol}
              </td>
              <td class="figure num">{usd(row.amount_usd)}</td>
              <td>
                <Address
                  address={row.wallet_address}
                  href={walletPath(chain, row.wallet_address)}
                  what={words.wallet}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.rows.length === 0 && <Empty>{words.noLiquidity}</Empty>}
      <More {...list} />
    </ScrollRows>
  )
}
