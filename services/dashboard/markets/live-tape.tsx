/** The last trades of the busiest pairs, as they happen. */
import type { PushedSwap } from '@dextape/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { follow } from '../app/live.js'
import { pairPath, walletPath } from '../app/router.js'
import { oncePerFrame } from '../app/store.js'
import { texts } from '../app/texts.js'
import { short, shortAddress, toNumber, usd, whole } from '../show/format.js'
import { Age, ChainMark, Empty, Panel } from '../show/parts.js'
import type { Row } from './market-rows.js'

type Trade = { key: string; id: string; swap: PushedSwap; symbol: string; isRemoved: boolean }

const KEPT = 60
const WHALE_USD = 25_000

export function LiveTape({ rows, nowS }: { rows: readonly Row[]; nowS: (chain: string) => number }) {
  const trades = useRef<Trade[]>([])
  const times = useRef<number[]>([])
  const [, redraw] = useState(0)
  const pairs = rows.filter(({ token }) => token.main_pair !== '')
  const name = pairs.map(({ pairId }) => pairId).join()
  useEffect(() => {
    trades.current = []
    times.current = []
    const show = oncePerFrame(() => redraw((count) => count + 1))
    const ends = pairs.map(({ token, pairId }) =>
      follow(['tx', token.main_pair, token.chain], (item) => {
        if (item.topic === 'tx') {
          const key = `${pairId} ${item.tx.id}`
          trades.current = [
            { key, id: item.tx.id, swap: item.tx as PushedSwap, symbol: token.symbol, isRemoved: false },
            ...trades.current.filter((trade) => trade.key !== key),
          ].slice(0, KEPT)
          times.current = [...times.current, Date.now()].filter((at) => at > Date.now() - 60_000)
        } else if (item.topic === 'retract') {
          for (const trade of trades.current)
            if (trade.key.startsWith(pairId) && item.ids.includes(trade.id)) trade.isRemoved = true
        }
        show()
      }),
    )
    return () => {
      for (const end of ends) end()
    }
  }, [name])
  return (
    <Panel
      class="tape"
      title={texts.markets.tape}
      aside={<span class="soft num">{texts.markets.tapeRate(whole(times.current.length))}</span>}
    >
      {trades.current.length === 0 ? (
        <Empty>{texts.markets.tapeEmpty}</Empty>
      ) : (
        <ol>
          {trades.current.map((trade) => (
            <TapeRow key={trade.key} trade={trade} nowS={nowS(trade.swap.chain)} />
          ))}
        </ol>
      )}
    </Panel>
  )
}

function TapeRow({ trade: { swap, symbol, isRemoved }, nowS }: { trade: Trade; nowS: number }) {
  const value = toNumber(swap.amount_usd)
  const isBuy = swap.direction === 'buy'
  const amount = isBuy ? swap.to_amount : swap.from_amount
  return (
    <li
      class={`${isRemoved ? 'is-removed' : ''} ${value >= WHALE_USD ? 'is-whale' : ''}`}
      {...(isRemoved ? { title: texts.trades.removed } : {})}
    >
      <Age timeS={swap.time} nowS={nowS} />
      <span class={`side ${isBuy ? 'up' : 'down'}`}>{isBuy ? texts.trades.buy : texts.trades.sell}</span>
      <a href={pairPath(swap.chain, swap.pair_address)}>
        <b>{symbol}</b> <span class="soft num">{short(amount)}</span>
      </a>
      <span class="figure num">{usd(swap.amount_usd)}</span>
      <span class="tape-where">
        <ChainMark chain={swap.chain} />{' '}
        <a class="mono soft" href={walletPath(swap.chain, swap.wallet_address)}>
          {shortAddress(swap.wallet_address)}
        </a>
      </span>
    </li>
  )
}
