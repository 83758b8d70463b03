import { type ComponentType, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { route, startRouter } from './app/router.js'
import { startSession } from './app/session.js'
import { applyTheme } from './app/settings.js'
import { Shell } from './app/shell.js'
import { watchStatus } from './app/status.js'
import { useValue } from './app/store.js'
import { texts } from './app/texts.js'
import { MarketsView } from './markets/markets-view.js'
import { Skeleton } from './show/parts.js'
import './styles/base.css'
import './styles/shell.css'
import './styles/markets.css'
import './styles/views.css'
import { watchAlerts } from './watchlist/alerts.js'

/** The first view is in the first file; the others are loaded when opened. */
const LATER: Record<string, () => Promise<ComponentType>> = {
  launchpad: async () => (await import('./markets/launchpad-view.js')).LaunchpadView,
  token: async () => (await import('./token/market-view.js')).MarketView,
  pair: async () => (await import('./token/market-view.js')).MarketView,
  wallet: async () => (await import('./wallet/wallet-view.js')).WalletView,
  compare: async () => (await import('./compare/compare-view.js')).CompareView,
  watchlist: async () => (await import('./watchlist/watchlist-view.js')).WatchlistView,
  system: async () => (await import('./system/system-view.js')).SystemView,
  sql: async () => (await import('./sql/sql-view.js')).SqlView,
}

function App() {
  const { parts } = useValue(route)
  const name = parts[0] ?? 'markets'
  return <Shell>{name === 'markets' ? <MarketsView /> : <Later key={name} name={name} />}</Shell>
}

function Later({ name }: { name: string }) {
  const [View, setView] = useState<ComponentType | undefined>(undefined)
  const load = LATER[name]
  useEffect(() => {
    void load?.().then((loaded) => setView(() => loaded))
  }, [name])
  if (load === undefined)
    return (
      <p class="empty">
        {texts.notFound} <a href="/markets">{texts.home}</a>
      </p>
    )
  return View === undefined ? <Skeleton rows={12} /> : <View />
}

applyTheme()
startSession()
startRouter()
watchStatus()
watchAlerts()
render(<App />, document.getElementById('app') as HTMLElement)
