/** Around every view: navigation, search, chains, the key, and what is wrong. */
import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { dateTime, span, whole } from '../show/format.js'
import { Choices } from '../show/parts.js'
import { Toasts } from '../watchlist/toasts.js'
import { route } from './router.js'
import { Search } from './search.js'
import { forgetKey, openSession, session, socketRetry } from './session.js'
import { type Clock, clock, type Theme, theme } from './settings.js'
import { type ChainStatus, lagOf, retryNow, silence, status } from './status.js'
import { useEvery, useValue } from './store.js'
import { texts } from './texts.js'

const LINKS = ['markets', 'launchpad', 'watchlist', 'compare', 'sql', 'system'] as const
const DAY_S = 86_400
const SLOW_S = 30
const BEHIND_S = 120

export function Shell({ children }: { children: ComponentChildren }) {
  const open = useValue(session)
  const isSilent = useValue(silence) !== undefined
  const isPaused = useValue(socketRetry) !== undefined
  return (
    <div class={`frame ${isSilent || isPaused ? 'is-stale' : ''}`}>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <Header />
      <Simulated />
      <Trouble />
      <main id="content" tabIndex={-1}>
        {open.kind === 'open' ? <Fragment key={open.turn}>{children}</Fragment> : <KeyPanel />}
      </main>
      <Toasts />
    </div>
  )
}

function Header() {
  const { path, parts } = useValue(route)
  const isOpen = useValue(session).kind === 'open'
  const [isMenu, setMenu] = useState(false)
  useEffect(() => setMenu(false), [path])
  const current = parts[0] ?? 'markets'
  return (
    <header class="top">
      <a class="brand" href="/">
        <img src="/pages/icon.svg" alt="" width="18" height="18" />
        <span>{texts.name}</span>
      </a>
      <nav aria-label={texts.nav.label} class={isMenu ? 'is-open' : ''} id="views">
        {LINKS.map((name) => (
          <a key={name} href={`/${name}`} {...(current === name ? { 'aria-current': 'page' as const } : {})}>
            {texts.nav[name]}
          </a>
        ))}
        <a href="/reference">{texts.nav.reference}</a>
      </nav>
      {isOpen && <Search />}
      <Chains />
      <Connection />
      <Settings />
      <button
        type="button"
        class="icon menu"
        aria-expanded={isMenu}
        aria-controls="views"
        aria-label={texts.nav.menu}
        onClick={() => setMenu(!isMenu)}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" stroke-width="1.5" />
        </svg>
      </button>
    </header>
  )
}

/** Green only if the server answers, pushes arrive and no chain is far behind. */
function Connection() {
  const isOpen = useValue(session).kind === 'open'
  const isSilent = useValue(silence) !== undefined
  const isPaused = useValue(socketRetry) !== undefined
  const chains = useValue(status)?.chains
  const worst = Math.max(0, ...(chains ?? []).map(lagOf))
  const state = !isOpen
    ? 'closed'
    : isSilent || isPaused
      ? 'waiting'
      : chains === undefined
        ? 'connecting'
        : worst > BEHIND_S
          ? 'behind'
          : 'live'
  const words = state === 'behind' ? texts.connection.behind(span(worst)) : texts.connection[state]
  return (
    <span class="connection" data-state={state} role="status">
      {words}
    </span>
  )
}

function Chains() {
  const chains = useValue(status)?.chains ?? []
  const isSilent = useValue(silence) !== undefined
  const [, tick] = useState(0)
  useEvery(1000, () => tick((count) => count + 1))
  return (
    <ul class="chains" aria-label={texts.chain.list}>
      {chains.map((chain) => (
        <li
          key={chain.chain}
          data-state={isSilent ? 'old' : stateOf(chain)}
          title={`${texts.chain.head(whole(chain.head))}, ${dateTime(chain.time, clock.get() === 'local')}`}
        >
          <b>{chain.chain}</b> <span class="num">{lagText(chain)}</span>
        </li>
      ))}
    </ul>
  )
}

function stateOf(chain: ChainStatus): 'stopped' | 'live' | 'slow' | 'behind' {
  if (chain.stopped !== null) return 'stopped'
  const lag = lagOf(chain)
  return lag > BEHIND_S ? 'behind' : lag > SLOW_S ? 'slow' : 'live'
}

function lagText(chain: ChainStatus): string {
  if (chain.stopped !== null) return texts.chain.stopped
  const lag = lagOf(chain)
  // A recording or an old chain: its day says more than years of lag.
  if (lag > 2 * DAY_S) return texts.chain.at(dateTime(chain.time, false).slice(0, 10))
  return lag > SLOW_S ? texts.chain.behind(span(lag)) : span(lag)
}

function Settings() {
  const isOpen = useValue(session).kind === 'open'
  const chosenTheme = useValue(theme)
  const chosenClock = useValue(clock)
  const box = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      const isInside = box.current?.contains(event.target as Node) === true
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape'
      if (box.current !== null && (isEscape || (event.type === 'click' && !isInside))) box.current.open = false
    }
    addEventListener('click', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('click', close)
      removeEventListener('keydown', close)
    }
  }, [])
  return (
    <details class="settings" ref={box}>
      <summary aria-label={texts.settings.open}>
        <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true">
          <path
            d="M2 5h7M13 5h1M2 11h1M7 11h7M11 3.2v3.6M5 9.2v3.6"
            fill="none"
            stroke="currentColor"
            stroke-width="1.5"
          />
        </svg>
      </summary>
      <div class="sheet">
        <span class="soft">{texts.settings.theme}</span>
        <Choices<Theme>
          label={texts.settings.theme}
          value={chosenTheme}
          onChoose={theme.set}
          options={(['auto', 'dark', 'light'] as const).map((value) => ({
            value,
            label: texts.settings.themes[value],
          }))}
        />
        <span class="soft">{texts.settings.clock}</span>
        <Choices<Clock>
          label={texts.settings.clock}
          value={chosenClock}
          onChoose={clock.set}
          options={(['utc', 'local'] as const).map((value) => ({ value, label: texts.settings.clocks[value] }))}
        />
        {isOpen && (
          <button type="button" onClick={forgetKey}>
            {texts.settings.forget}
          </button>
        )}
      </div>
    </details>
  )
}

function Simulated() {
  if (useValue(status)?.simulated !== true) return null
  return (
    <p class="simulated">
      <strong>{texts.simulated}</strong> {texts.simulatedMore}
    </p>
  )
}

/** What is old looks old: says since when, when the next attempt is, and offers to try at once. */
function Trouble() {
  const quiet = useValue(silence)
  const socket = useValue(socketRetry)
  const [, tick] = useState(0)
  useEvery(250, () => tick((count) => count + 1))
  if (quiet === undefined && socket === undefined) return null
  const words =
    quiet === undefined
      ? texts.connection.pushesLost(socket?.why ?? '')
      : texts.connection.silent(span((Date.now() - quiet.sinceMs) / 1000))
  const atMs = Math.min(quiet?.retryAtMs ?? Number.POSITIVE_INFINITY, socket?.atMs ?? Number.POSITIVE_INFINITY)
  const leftS = Math.ceil((atMs - Date.now()) / 1000)
  return (
    <section class="trouble" aria-label={texts.connection.lost}>
      <p role="alert">{words}</p>
      <span class="num">{leftS > 0 ? texts.connection.next(leftS) : texts.connection.trying}</span>
      <button type="button" onClick={retryNow}>
        {texts.connection.retry}
      </button>
    </section>
  )
}

function KeyPanel() {
  const open = useValue(session)
  const [key, setKey] = useState('')
  const wrong = open.kind === 'closed' ? open.wrong : ''
  return (
    <section class="panel key-panel" aria-labelledby="key-title">
      <h1 id="key-title">{texts.key.title}</h1>
      {wrong !== '' && (
        <p class="wrong" role="alert">
          {texts.key.wrong(wrong)}
        </p>
      )}
      <p>
        {texts.key.where} <code>key</code>. {texts.key.create} <code>npx dextape keys create --name me</code>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (key.trim() !== '') openSession(key.trim())
        }}
      >
        <input
          aria-label={texts.key.field}
          placeholder="dx_…"
          autocomplete="off"
          spellcheck={false}
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
        <button type="submit" class="primary">
          {texts.key.open}
        </button>
      </form>
      <p class="soft">{texts.key.kept}</p>
    </section>
  )
}
