/** Alerts on watched tokens: checked against pushes while a tab of this page is open. */
import { follow } from '../app/live.js'
import { ask, session } from '../app/session.js'
import { createStoredValue, createValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { priceUsd, toNumber, usd } from '../show/format.js'
import type { Watched } from './watched.js'

export const ALERT_KINDS = ['above', 'below', 'volume', 'whale', 'pair'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]
/** `isArmed`: it fires once, and again only after the condition was false. */
export type Alert = { id: string; kind: AlertKind; value: number; of: Watched; isArmed: boolean; pairs?: string[] }
export type Fired = { id: string; atMs: number; text: string }

const PAIRS_MS = 15_000
const KEPT = 50

export const alerts = createStoredValue<Alert[]>('dextape-alerts', [])
export const fired = createValue<Fired[]>([])

function fire(text: string): void {
  fired.set([{ id: `${Date.now()} ${text}`, atMs: Date.now(), text }, ...fired.get()].slice(0, KEPT))
  if ('Notification' in window && Notification.permission === 'granted') new Notification(texts.name, { body: text })
}

function change(id: string, changes: Partial<Alert>): void {
  alerts.set(alerts.get().map((alert) => (alert.id === id ? { ...alert, ...changes } : alert)))
}

/** Fires on the change from false to true. */
function judge(alert: Alert, isTrue: boolean, text: () => string): void {
  if (isTrue === !alert.isArmed) return
  change(alert.id, { isArmed: !isTrue })
  if (isTrue) fire(text())
}

function onPrice(pairId: string, price: number, volume: number): void {
  const words = texts.watchlist.fired
  for (const alert of alerts.get()) {
    if (alert.of.pairId !== pairId) continue
    const { symbol } = alert.of
    if (alert.kind === 'above') judge(alert, price > alert.value, () => words.above(symbol, priceUsd(alert.value)))
    if (alert.kind === 'below') judge(alert, price < alert.value, () => words.below(symbol, priceUsd(alert.value)))
    if (alert.kind === 'volume') judge(alert, volume > alert.value, () => words.volume(symbol, usd(alert.value)))
  }
}

async function lookForPairs(): Promise<void> {
  for (const alert of alerts.get().filter(({ kind }) => kind === 'pair')) {
    const detail = await ask('tokenDetail', { token_id: alert.of.id })
    const pairs = (detail?.pairs ?? []).map(({ pair }) => pair)
    const isNew = alert.pairs !== undefined && pairs.some((pair) => !alert.pairs?.includes(pair))
    if (alert.pairs === undefined || isNew)
      change(alert.id, { pairs: [...new Set([...(alert.pairs ?? []), ...pairs])] })
    if (isNew) fire(texts.watchlist.fired.pair(alert.of.symbol))
  }
}

export function watchAlerts(): void {
  let ends: (() => void)[] = []
  let followed = ''
  const restart = () => {
    const open = session.get().kind === 'open'
    const pairs = [...new Map(alerts.get().map((alert) => [alert.of.pairId, alert.of])).values()]
    const whales = new Set(alerts.get().flatMap(({ kind, of }) => (kind === 'whale' ? [of.pairId] : [])))
    const name = open ? JSON.stringify([pairs.map(({ pairId }) => pairId), [...whales]]) : ''
    if (name === followed) return
    followed = name
    for (const end of ends) end()
    ends = []
    if (!open || pairs.length === 0) return
    const ids = pairs.map(({ pairId }) => pairId)
    ends.push(
      follow(
        ['price', ids],
        (item) => {
          if (item.topic !== 'price') return
          for (const entry of item.prices)
            onPrice(`${entry.pair}-${entry.chain}`, toNumber(entry.uprice), toNumber(entry.volume_24_u))
        },
        { snapshot: true },
      ),
    )
    for (const { pairId, chain } of pairs.filter((one) => whales.has(one.pairId))) {
      const pair = pairId.slice(0, -chain.length - 1)
      ends.push(
        follow(['tx', pair, chain], (item) => {
          if (item.topic !== 'tx') return
          const value = toNumber(item.tx.amount_usd)
          for (const alert of alerts.get())
            if (alert.kind === 'whale' && alert.of.pairId === pairId && value >= alert.value)
              fire(texts.watchlist.fired.whale(alert.of.symbol, usd(value)))
        }),
      )
    }
  }
  session.subscribe(() => {
    followed = ''
    restart()
  })
  alerts.subscribe(restart)
  restart()
  setInterval(() => {
    if (session.get().kind === 'open') lookForPairs().catch(() => {})
  }, PAIRS_MS)
}
