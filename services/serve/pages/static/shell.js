/** Around the reference: API key, theme, simulated-market banner and notices. Keys and theme are the dashboard's. */
import { readStatus } from './api.js'
import { byId } from './elements.js'

const STORED = 'dextape-key'
const STATUS_MS = 3000

showTheme()

/** As chosen in the dashboard; without a choice, as the system. */
function showTheme() {
  const chosen = localStorage.getItem('dextape-theme') ?? '"auto"'
  const isLight = chosen === '"auto"' ? matchMedia('(prefers-color-scheme: light)').matches : chosen === '"light"'
  document.documentElement.dataset.theme = isLight ? 'light' : 'dark'
}

/**
 * @param {{ onKey: (key: string) => void }} page
 */
export function openShell({ onKey }) {
  const field = /** @type {HTMLInputElement} */ (byId('key-field'))

  function askForKey(wrong) {
    byId('key-panel').hidden = false
    byId('key-wrong').hidden = wrong === undefined
    byId('key-wrong').textContent = wrong === undefined ? '' : `${wrong} Enter another key.`
    byId('key-forget').hidden = true
  }

  byId('key-form').addEventListener('submit', (event) => {
    event.preventDefault()
    const key = field.value.trim()
    if (key !== '') use(key)
  })
  byId('key-forget').addEventListener('click', () => {
    forgetKey()
    location.reload()
  })
  // A link with a key was opened in this tab.
  addEventListener('hashchange', () => {
    if (location.hash.includes('key=')) use(readKey())
  })

  function use(key) {
    keepKey(key)
    field.value = ''
    byId('key-panel').hidden = true
    byId('key-forget').hidden = false
    onKey(key)
  }

  const known = readKey()
  if (known === '') askForKey()
  else use(known)
  return { askForKey }
}

/**
 * Polls /status. The simulated-market banner stays visible while the server is unreachable.
 * @param {{ onStatus?: (status: object) => void, onUnreachable?: (why: string) => void }} page
 */
export function watchStatus({ onStatus = () => {}, onUnreachable = () => {} }) {
  async function look() {
    try {
      const status = await readStatus()
      byId('simulated').hidden = status.simulated !== true
      onStatus(status)
    } catch (error) {
      onUnreachable(error instanceof Error ? error.message : String(error))
    }
    setTimeout(look, STATUS_MS)
  }
  look()
}

export function showNotice(text) {
  byId('notice').hidden = text === ''
  byId('notice').textContent = text
}

/** Reads the API key from `#key=…` in the URL, removes it there and keeps it in this browser. */
function readKey() {
  const parts = location.hash.slice(1).split('&')
  const given = new URLSearchParams(parts.find((part) => part.startsWith('key='))).get('key')
  if (given === null) return localStorage.getItem(STORED) ?? ''
  const rest = parts.filter((part) => !part.startsWith('key=')).join('&')
  history.replaceState(null, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`)
  keepKey(given)
  return given
}

function keepKey(key) {
  localStorage.setItem(STORED, key)
}

function forgetKey() {
  localStorage.removeItem(STORED)
}
