/** The address is the state: each view has one, and back, forward and reload keep the place. */
import { createValue } from './store.js'

export type Route = { path: string; parts: readonly string[]; query: URLSearchParams }

function read(): Route {
  const { pathname, search } = location
  return {
    path: pathname,
    parts: pathname.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(search),
  }
}

export const route = createValue<Route>(read())

/** Where each place was scrolled to, by history entry. */
const scrolls = new Map<string, number>()
const entryKey = () => String((history.state as { at?: number } | null)?.at ?? 0)

export function go(path: string, { replace = false }: { replace?: boolean } = {}): void {
  scrolls.set(entryKey(), scrollY)
  const at = replace ? Number(entryKey()) : Date.now()
  history[replace ? 'replaceState' : 'pushState']({ at }, '', path)
  route.set(read())
  if (!replace) scrollTo(0, 0)
}

/** Changes parameters of the address in place; undefined or the default removes one. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  go(`${location.pathname}${text === '' ? '' : `?${text}`}`, { replace: true })
}

export function startRouter(): void {
  addEventListener('popstate', () => {
    route.set(read())
    requestAnimationFrame(() => scrollTo(0, scrolls.get(entryKey()) ?? 0))
  })
  addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a')
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (!link || !isPlain || event.defaultPrevented || link.target !== '' || link.origin !== location.origin) return
    if (!isView(link.pathname)) return
    event.preventDefault()
    if (link.href !== location.href) go(`${link.pathname}${link.search}`)
  })
}

const VIEWS = ['', 'markets', 'launchpad', 'token', 'pair', 'wallet', 'compare', 'watchlist', 'system', 'sql']

/** The others, such as /reference, are pages of their own. */
const isView = (path: string): boolean => VIEWS.includes(path.split('/')[1] ?? '')

export const tokenPath = (chain: string, token: string): string => `/token/${chain}/${encodeURIComponent(token)}`
export const pairPath = (chain: string, pair: string): string => `/pair/${chain}/${encodeURIComponent(pair)}`
export const walletPath = (chain: string, wallet: string): string => `/wallet/${chain}/${encodeURIComponent(wallet)}`
