/** A candle beside the same candle computed again from its trades. */
import { useEffect, useRef } from 'preact/hooks'
import { ask } from '../app/session.js'
import { useLoaded } from '../app/store.js'
import { texts } from '../app/texts.js'
import { price, shortAddress, usd, whole } from '../show/format.js'
import { Await, When } from '../show/parts.js'
import type { Currency, IntervalName } from './series.js'

const FIGURES = ['open', 'first', 'high', 'low', 'close', 'volume'] as const

type Props = { pairId: string; interval: IntervalName; timeS: number; currency: Currency; onClose: () => void }

export function AuditDialog({ pairId, interval, timeS, currency, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const audit = useLoaded(
    (signal) => ask('candlesAudit', { pair_id: pairId, interval, time: timeS, limit: 50 }, signal),
    [pairId, interval, timeS],
  )
  useEffect(() => dialog.current?.showModal(), [])
  const words = texts.audit
  return (
    <dialog ref={dialog} class="panel audit" aria-label={words.title} onClose={onClose}>
      <header class="panel-head">
        <h2>{words.title}</h2>
        <When timeS={timeS} />
        <button type="button" onClick={() => dialog.current?.close()}>
          {words.close}
        </button>
      </header>
      <Await of={audit} rows={8}>
        {(data) => (
          <div class="audit-body">
            <p class={data.agree ? 'up' : 'down'}>
              <b>{data.agree ? words.agree : words.differ}</b>
            </p>
            <p class="soft">{data.finalized ? words.final : words.open}</p>
            <table class="rows">
              <thead>
                <tr>
                  <th>{words.figure}</th>
                  <th class="figure">{words.candle}</th>
                  <th class="figure">{words.recomputed}</th>
                </tr>
              </thead>
              <tbody>
                {FIGURES.map((figure) => {
                  const isSame = !data.differences.some((one) => one.currency === currency && one.figure === figure)
                  return (
                    <tr key={figure} class={isSame ? '' : 'down'}>
                      <td>{figure}</td>
                      <td class="figure num">{price(data.candle[currency]?.[figure])}</td>
                      <td class="figure num">{price(data.recomputed[currency]?.[figure])}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
            <h3>{words.trades(whole(data.trade_count))}</h3>
            <table class="rows">
              <tbody>
                {data.trades.map((trade) => (
                  <tr key={trade.id}>
                    <td class="num soft">{trade.id}</td>
                    <td class="figure num">{price(trade.price_usd)}</td>
                    <td class="figure num">{usd(trade.amount_usd)}</td>
                    <td class="mono soft">{shortAddress(trade.tx_hash)}</td>
                    <td class="soft">{trade.flags.length === 0 ? '' : `${trade.flags.join(', ')}: ${words.flags}`}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Await>
    </dialog>
  )
}
