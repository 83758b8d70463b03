/** The swaps of an account in any pair: live, and back to the first. */
import type { AddressTxResultItem, PushedTokenSwap } from '@dextape/client'
import { useFollow } from '../app/live.js'
import { pairPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { texts } from '../app/texts.js'
import { type Figure, short, usd } from '../show/format.js'
import { Age, Copy, Empty, Failed, ScrollRows, Skeleton } from '../show/parts.js'
import { More } from '../token/trades.js'
import { useRows } from '../token/use-rows.js'

type Row = {
  id: string
  timeS: number
  block: number
  isRemoved: boolean
  isBuy: boolean
  pair: string
  tx: string
  paid: { amount: Figure; symbol: string }
  received: { amount: Figure; symbol: string }
  valueUsd: Figure
}

const PAGE = 100

function rowOf(swap: AddressTxResultItem | PushedTokenSwap): Row {
  return {
    // Ids are of a block: two pairs of one account have different ones.
    ...{ id: swap.id, timeS: swap.time, block: swap.block_number, isRemoved: false },
    ...{ isBuy: swap.tx_swap_type === 0, pair: swap.pair_address, valueUsd: swap.amount_usd },
    tx: 'tx_hash' in swap ? swap.tx_hash : swap.transaction,
    paid: { amount: swap.from_amount, symbol: swap.from_symbol },
    received: { amount: swap.to_amount, symbol: swap.to_symbol },
  }
}

type Props = { address: string; chain: string; nowS: number }

export function WalletTrades({ address, chain, nowS }: Props) {
  const who = { wallet_address: address, chain }
  const list = useRows<Row>(`${address}-${chain}`, async (from, signal) => {
    // From the start of what is indexed: without a start there are 15 days only.
    const params = { ...who, from_time: 0, page_size: PAGE, ...from }
    const { result, next_cursor } = await ask('addressTx', params, signal)
    return { rows: result.map(rowOf), cursor: next_cursor }
  })
  useFollow(
    ['wallet', address, chain],
    (item) => {
      if (item.topic === 'wallet' && item.event === 'swap') list.add([rowOf(item.tx as PushedTokenSwap)])
      else if (item.topic === 'retract') list.markRemoved(item.ids)
    },
    {},
    // Between the first page and the start of the pushes there may have been more.
    list.reload,
  )
  const words = texts.wallet
  if (list.error !== undefined && list.rows.length === 0) return <Failed error={list.error} onRetry={list.reload} />
  if (list.state === 'loading' && list.rows.length === 0) return <Skeleton rows={6} />
  if (list.rows.length === 0) return <Empty>{words.noTrades}</Empty>
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
            <th class="wide">{words.transaction}</th>
          </tr>
        </thead>
        <tbody>
          {list.rows.map((row) => (
            <Trade key={row.id} {...{ row, chain, nowS }} />
          ))}
        </tbody>
      </table>
      <More {...list} />
    </ScrollRows>
  )
}

function Trade({ row, chain, nowS }: { row: Row; chain: string; nowS: number }) {
  return (
    <tr class={row.isRemoved ? 'is-removed' : ''} title={row.isRemoved ? texts.trades.removed : ''}>
      <td>
        <Age timeS={row.timeS} nowS={nowS} />
      </td>
      <td class={`side ${row.isBuy ? 'up' : 'down'}`}>
        <a href={pairPath(chain, row.pair)}>{row.isBuy ? texts.trades.buy : texts.trades.sell}</a>
      </td>
      <td class="figure num">
        {short(row.paid.amount)} {row.paid.symbol}
      </td>
      <td class="figure num">
        {short(row.received.amount)} {row.received.symbol}
      </td>
      <td class="figure num">{usd(row.valueUsd)}</td>
      <td class="mono soft wide">
        {row.tx.slice(0, 10)}… <Copy text={row.tx} what={texts.wallet.transaction} />
      </td>
    </tr>
  )
}
