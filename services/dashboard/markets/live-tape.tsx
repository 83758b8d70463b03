/** The last trades of the busiest pairs, as they happen. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { follow } from '../app/live.js'
import { pairPath, walletPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { oncePerFrame } from '../app/store.js'
import { texts } from '../app/texts.js'
import { short, shortAddress, toNumber, usd, whole } from '../show/format.js'
import { Age, ChainMark, Empty, Panel } from '../show/parts.js'
import { pushedTrade, readTrade, type TradeRow } from '../token/trade-rows.js'
import type { Row } from './market-rows.js'

type Trade = TradeRow & { key: string; chain: string; pair: string; symbol: string }

const KEPT = 60
const WHALE_USD = 25_000
/** Pairs whose last trades are read, so that the tape does not start empty. */
const PAST_PAIRS = 3
const PAST_TRADES = 12

/** `nowS`: one clock for all chains, so that ages have the order of the trades. */
export function LiveTape({ rows, nowS }: { rows: readonly Row[]; nowS: number }) {
  const trades = useRef<Trade[]>([])
  const times = useRef<number[]>([])
  const [, redraw] = useState(0)
  const pairs = rows.filter(({ token }) => token.main_pair !== '')
  const name = pairs.map(({ pairId }) => pairId).join()
  useEffect(() => {
    trades.current = []
    times.current = []
    const ending = new AbortController()
    const show = oncePerFrame(() => redraw((count) => count + 1))
    const add = ({ token, pairId }: Row, added: readonly TradeRow[]) => {
      const facts = { chain: token.chain, pair: token.main_pair, symbol: token.symbol }
      const made = added.map((row): Trade => ({ ...row, ...facts, key: `${pairId} ${row.id}` }))
      const keys = new Set(made.map(({ key }) => key))
      const all = [...made, ...trades.current.filter(({ key }) => !keys.has(key))]
      trades.current = all.sort((a, b) => b.timeS - a.timeS).slice(0, KEPT)
      show()
    }
    const readPast = async (row: Row) => {
      const params = { pair_id: row.pairId, limit: PAST_TRADES, sort: 'desc' as const }
      const { txs } = await ask('txsSwap', params, ending.signal)
      const known = new Set(trades.current.map(({ key }) => key))
      const past = txs.map((swap) => readTrade(swap, row.token.token))
      add(
        row,
        past.filter(({ id }) => !known.has(`${row.pairId} ${id}`)),
      )
    }
    const ends = pairs.map((row, index) =>
      follow(
        ['tx', row.token.main_pair, row.token.chain],
        (item) => {
          if (item.topic === 'tx') {
            times.current = [...times.current, Date.now()].filter((at) => at > Date.now() - 60_000)
            add(row, [pushedTrade(item.tx)])
          } else if (item.topic === 'retract') {
            const gone = new Set(item.ids.map((id) => `${row.pairId} ${id}`))
            trades.current = trades.current.map((one) => (gone.has(one.key) ? { ...one, isRemoved: true } : one))
            show()
          }
        },
        {},
        () => {
          if (index < PAST_PAIRS) readPast(row).catch(() => {})
        },
      ),
    )
    return () => {
      ending.abort()
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
            <TapeRow key={trade.key} trade={trade} nowS={nowS} />
          ))}
        </ol>
      )}
    </Panel>
  )
}

function TapeRow({ trade, nowS }: { trade: Trade; nowS: number }) {
  const { chain, pair, symbol, isBuy, isRemoved, wallet } = trade
  return (
    <li
      class={`${isRemoved ? 'is-removed' : ''} ${toNumber(trade.valueUsd) >= WHALE_USD ? 'is-whale' : ''}`}
      {...(isRemoved ? { title: texts.trades.removed } : {})}
    >
      <Age timeS={trade.timeS} nowS={nowS} />
      <span class={`side ${isBuy ? 'up' : 'down'}`}>{isBuy ? texts.trades.buy : texts.trades.sell}</span>
      <a href={pairPath(chain, pair)}>
        <b>{symbol}</b> <span class="soft num">{short(trade.amount)}</span>
      </a>
      <span class="figure num">{usd(trade.valueUsd)}</span>
      <span class="tape-where">
        <ChainMark chain={chain} />{' '}
        <a class="mono soft" href={walletPath(chain, wallet)}>
          {shortAddress(wallet)}
        </a>
      </span>
    </li>
  )
}
