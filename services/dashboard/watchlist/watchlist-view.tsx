import { useEffect, useState } from 'preact/hooks'
import { tokenPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { clock } from '../app/settings.js'
import { status } from '../app/status.js'
import { useEvery, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { clockTime, priceUsd, shortAddress, usd, usdShort } from '../show/format.js'
import { Avatar, Await, ChainMark, Change, Empty, LivePrice, Panel } from '../show/parts.js'
import { RiskMarks } from '../show/risk-marks.js'
import { ALERT_KINDS, type Alert, type AlertKind, alerts, fired } from './alerts.js'
import { Star } from './star.js'
import { watched } from './watched.js'

const REFRESH_MS = 3000

export function WatchlistView() {
  const list = useValue(watched)
  const ids = list.map(({ id }) => id)
  const tokens = useLoaded(
    async (signal) => (ids.length === 0 ? [] : ask('tokensSearch', { token_ids: ids.slice(0, 50) }, signal)),
    [ids.join()],
  )
  useEvery(REFRESH_MS, tokens.reload)
  useEffect(() => {
    document.title = `${texts.watchlist.title} · ${texts.name}`
  }, [])
  const columns = texts.markets.columns
  return (
    <div class="market">
      <h1>{texts.watchlist.title}</h1>
      <div class="market-grid">
        <section class="panel" aria-label={texts.watchlist.title}>
          {list.length === 0 ? (
            <Empty>{texts.watchlist.empty}</Empty>
          ) : (
            <Await of={tokens}>
              {(found) => (
                <table class="rows">
                  <thead>
                    <tr>
                      <th>{columns.token}</th>
                      <th class="figure">{columns.price}</th>
                      <th class="figure wide">1h</th>
                      <th class="figure">24h</th>
                      <th class="figure wide">{columns.volume}</th>
                      <th class="figure wide">{columns.tvl}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.map((one) => {
                      const token = found.find(({ token, chain }) => `${token}-${chain}` === one.id)
                      return (
                        <tr key={one.id}>
                          <td>
                            <div class="name">
                              <Star of={one} />
                              <Avatar id={one.token} label={one.symbol} />
                              <a href={tokenPath(one.chain, one.token)}>
                                <span class="title">
                                  <b>{one.symbol}</b> {token !== undefined && <RiskMarks token={token} />}{' '}
                                  <span class="soft long">{token?.name}</span>
                                </span>
                                <small>
                                  <ChainMark chain={one.chain} /> <span class="mono">{shortAddress(one.token)}</span>
                                </small>
                              </a>
                            </div>
                          </td>
                          <td class="figure">
                            <LivePrice value={token?.current_price_usd} />
                          </td>
                          <td class="figure wide">
                            <Change value={token?.token_price_change_1h} />
                          </td>
                          <td class="figure">
                            <Change value={token?.price_change_24h} />
                          </td>
                          <td class="figure num wide">{usdShort(token?.tx_volume_u_24h)}</td>
                          <td class="figure num wide">{usdShort(token?.tvl)}</td>
                        </tr>
                      )
                    })}
                  </tbody>
                </table>
              )}
            </Await>
          )}
        </section>
        <Alerts />
      </div>
    </div>
  )
}

function Alerts() {
  const list = useValue(alerts)
  const happened = useValue(fired)
  const isLocal = useValue(clock) === 'local'
  const words = texts.watchlist
  return (
    <aside class="market-side">
      <Panel title={words.alerts}>
        <AddAlert />
        {list.length === 0 && <Empty>{words.none}</Empty>}
        <ul class="alerts">
          {list.map((alert) => (
            <li key={alert.id}>
              <span>
                <b>{alert.of.symbol}</b> {words.kinds[alert.kind]} <span class="num">{valueText(alert)}</span>
              </span>
              <button type="button" onClick={() => alerts.set(list.filter(({ id }) => id !== alert.id))}>
                {words.remove}
              </button>
            </li>
          ))}
        </ul>
        <Permission />
        <p class="soft note">{words.where}</p>
      </Panel>
      {happened.length > 0 && (
        <Panel title={words.log}>
          <ol class="alerts">
            {happened.map(({ id, atMs, text, href }) => (
              <li key={id}>
                <a href={href}>{text}</a> <time class="num soft">{clockTime(atMs / 1000, isLocal)}</time>
              </li>
            ))}
          </ol>
        </Panel>
      )}
    </aside>
  )
}

function valueText({ kind, value }: Alert): string {
  if (kind === 'pair') return ''
  return kind === 'above' || kind === 'below' ? priceUsd(value) : usd(value)
}

function Permission() {
  const [state, setState] = useState('Notification' in window ? Notification.permission : 'denied')
  if (state === 'granted') return null
  if (state === 'denied') return <p class="soft note">{texts.watchlist.blocked}</p>
  return (
    <p class="note">
      <button type="button" onClick={() => void Notification.requestPermission().then(setState)}>
        {texts.watchlist.allow}
      </button>
    </p>
  )
}

function AddAlert() {
  const list = useValue(watched)
  const [id, setId] = useState('')
  const [kind, setKind] = useState<AlertKind>('above')
  const [value, setValue] = useState('')
  const of = list.find((one) => one.id === id) ?? list[0]
  if (of === undefined) return null
  const words = texts.watchlist
  const isReady = kind === 'pair' || Number(value) > 0
  return (
    <form
      class="add-alert"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isReady) return
        const made: Alert = {
          id: crypto.randomUUID?.() ?? String(Date.now()),
          kind,
          value: Number(value),
          of,
          isArmed: true,
          sinceS: status.get()?.chains.find(({ chain }) => chain === of.chain)?.time ?? Math.floor(Date.now() / 1000),
        }
        alerts.set([...alerts.get(), made])
        setValue('')
      }}
    >
      <select aria-label={words.token} value={of.id} onChange={({ currentTarget }) => setId(currentTarget.value)}>
        {list.map((one) => (
          <option key={one.id} value={one.id}>
            {one.symbol} · {one.chain} · {shortAddress(one.token)}
          </option>
        ))}
      </select>
      <select
        aria-label={words.kind}
        value={kind}
        onChange={({ currentTarget }) => setKind(currentTarget.value as AlertKind)}
      >
        {ALERT_KINDS.map((one) => (
          <option key={one} value={one}>
            {words.kinds[one]}
          </option>
        ))}
      </select>
      {kind !== 'pair' && (
        <input
          {...{ type: 'number', min: 0, step: 'any', placeholder: words.value, 'aria-label': words.value, value }}
          onInput={({ currentTarget }) => setValue(currentTarget.value)}
        />
      )}
      <button type="submit" disabled={!isReady}>
        {words.add}
      </button>
    </form>
  )
}
