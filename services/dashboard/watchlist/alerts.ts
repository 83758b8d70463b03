/** Alerts on watched tokens: checked against pushes while a tab of this page is open. */
import type { PushedPrice, PushedTokenSwap } from '@dextape/client'
import { follow } from '../app/live.js'
import { go, tokenPath } from '../app/router.js'
import { ask, session } from '../app/session.js'
import { createStoredValue, createValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { priceUsd, toNumber, usd } from '../show/format.js'
import type { Watched } from './watched.js'

export const ALERT_KINDS = ['above', 'below', 'volume', 'whale', 'pair'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]
export type Alert = {
  id: string
  kind: AlertKind
  value: number
  of: Watched
  /** It fires once, and again only after the condition was false. */
  isArmed: boolean
  /** Time of its chain when it was made: pairs created later are new. */
  sinceS: number
  /** Pairs that it has judged. */
  pairs?: string[]
}
export type Fired = { id: string; atMs: number; text: string; href: string }

const LOOK_MS = 15_000
/** Volumes are read after a trade, but not after each of a busy token. */
const LEAST_LOOK_MS = 2000
const KEPT = 50
const SNAPSHOT = { snapshot: true }

export const alerts = createStoredValue<Alert[]>('dextape-alerts', [])
export const fired = createValue<Fired[]>([])

function fire({ of }: Alert, text: string): void {
  const href = tokenPath(of.chain, of.token)
  const one: Fired = { id: `${Date.now()} ${text}`, atMs: Date.now(), text, href }
  fired.set([one, ...fired.get()].slice(0, KEPT))
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  try {
    // A tag: other tabs that saw the same replace it instead of adding theirs.
    const shown = new Notification(texts.name, { body: text, tag: text })
    shown.onclick = () => {
      window.focus()
      go(href)
    }
  } catch {
    // Some phones have the permission but no constructor: the page itself shows it.
  }
}

function change(id: string, changes: Partial<Alert>): void {
  alerts.set(alerts.get().map((alert) => (alert.id === id ? { ...alert, ...changes } : alert)))
}

/** Fires on the change from false to true. */
function judge(alert: Alert, isTrue: boolean, text: () => string): void {
  if (isTrue === !alert.isArmed) return
  change(alert.id, { isArmed: !isTrue })
  if (isTrue) fire(alert, text())
}

const ofKind = (kind: AlertKind, tokenId: string): Alert[] =>
  alerts.get().filter((alert) => alert.kind === kind && alert.of.id === tokenId)

function onPrice({ token_id, uprice }: PushedPrice): void {
  const words = texts.watchlist.fired
  const now = toNumber(uprice)
  for (const alert of ofKind('above', token_id))
    judge(alert, now > alert.value, () => words.above(alert.of.symbol, priceUsd(alert.value)))
  for (const alert of ofKind('below', token_id))
    judge(alert, now < alert.value, () => words.below(alert.of.symbol, priceUsd(alert.value)))
}

function onSwap(tokenId: string, swap: PushedTokenSwap): void {
  const value = toNumber(swap.amount_usd)
  for (const alert of ofKind('whale', tokenId))
    if (value >= alert.value) fire(alert, texts.watchlist.fired.whale(alert.of.symbol, usd(value)))
  for (const alert of ofKind('pair', tokenId)) judgePair(alert, swap.pair_address).catch(() => {})
}

/** Of all pairs of the token, as the lists show it. */
async function lookAtVolume(tokenId: string): Promise<void> {
  const detail = await ask('tokenDetail', { token_id: tokenId })
  const volume = toNumber(detail?.token.tx_volume_u_24h)
  for (const alert of ofKind('volume', tokenId))
    judge(alert, volume > alert.value, () => texts.watchlist.fired.volume(alert.of.symbol, usd(alert.value)))
}

/** Also pairs that nobody has traded yet; of a token with more than a hundred pairs the deepest. */
async function lookForPairs(tokenId: string): Promise<void> {
  const contract = await ask('contracts', { token_id: tokenId })
  for (const { pair } of contract?.dex ?? []) for (const alert of ofKind('pair', tokenId)) await judgePair(alert, pair)
}

const judging = new Set<string>()

async function judgePair({ id }: Alert, pair: string): Promise<void> {
  const alert = alerts.get().find((one) => one.id === id)
  const name = `${id} ${pair}`
  if (alert === undefined || alert.pairs?.includes(pair) || judging.has(name)) return
  judging.add(name)
  try {
    const detail = await ask('pairDetail', { pair_id: `${pair}-${alert.of.chain}` })
    const judged = alerts.get().find((one) => one.id === id)?.pairs ?? []
    change(id, { pairs: [...judged, pair] })
    if (detail === null || detail.created_at <= alert.sinceS) return
    const symbols = `${detail.token0_symbol} / ${detail.token1_symbol}`
    fire(alert, texts.watchlist.fired.pair(alert.of.symbol, symbols, detail.amm))
  } finally {
    judging.delete(name)
  }
}

/** The tokens of alerts of these kinds, each once. */
function tokensOf(...kinds: AlertKind[]): Watched[] {
  const wanted = alerts.get().filter(({ kind }) => kinds.includes(kind))
  return [...new Map(wanted.map(({ of }) => [of.id, of])).values()]
}

export function watchAlerts(): void {
  let ends: (() => void)[] = []
  let followed = ''
  const looking = new Set<string>()
  const lookSoon = (tokenId: string) => {
    if (looking.has(tokenId) || ofKind('volume', tokenId).length === 0) return
    looking.add(tokenId)
    setTimeout(() => {
      looking.delete(tokenId)
      lookAtVolume(tokenId).catch(() => {})
    }, LEAST_LOOK_MS)
  }
  const restart = () => {
    const isOpen = session.get().kind === 'open'
    const priced = tokensOf('above', 'below').map(({ id }) => id)
    const traded = tokensOf('volume', 'whale', 'pair')
    const name = isOpen ? JSON.stringify([priced, traded.map(({ id }) => id)]) : ''
    if (name === followed) return
    followed = name
    for (const end of ends) end()
    ends = []
    if (!isOpen) return
    // A token id follows its main pair, also to another one.
    if (priced.length > 0)
      ends.push(follow(['price', priced], (item) => item.topic === 'price' && item.prices.forEach(onPrice), SNAPSHOT))
    for (const { id, token, chain } of traded)
      ends.push(
        follow(['multi_tx', token, chain], (item) => {
          if (item.topic !== 'tx') return
          onSwap(id, item.tx)
          lookSoon(id)
        }),
      )
    look()
  }
  const look = () => {
    if (session.get().kind !== 'open') return
    for (const { id } of tokensOf('volume')) lookAtVolume(id).catch(() => {})
    for (const { id } of tokensOf('pair')) lookForPairs(id).catch(() => {})
  }
  session.subscribe(() => {
    followed = ''
    restart()
  })
  alerts.subscribe(restart)
  restart()
  setInterval(look, LOOK_MS)
}
