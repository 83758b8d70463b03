/** What both pages have around them: the key, the notice of a simulated market, and words for what is wrong. */
import { readStatus } from './api.js'
import { byId } from './elements.js'
import { forgetKey, keepKey, readKey } from './key.js'

const STATUS_MS = 3000

/**
 * @param {{ onKey: (key: string) => void }} page
 */
export function openShell({ onKey }) {
  const field = /** @type {HTMLInputElement} */ (byId('key-field'))

  function askForKey(wrong) {
    byId('key-panel').hidden = false
    byId('key-wrong').hidden = wrong === undefined
    byId('key-wrong').textContent = wrong === undefined ? '' : `${wrong} Give another one.`
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
  // A link with a key, opened in this tab.
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
 * Reads /status again and again. A simulated market is told on every page, and stays told while the server is away.
 * @param {{ onStatus?: (status: object) => void, onGone?: (why: string) => void }} page
 */
export function watchStatus({ onStatus = () => {}, onGone = () => {} }) {
  async function look() {
    try {
      const status = await readStatus()
      byId('simulated').hidden = status.simulated !== true
      onStatus(status)
    } catch (error) {
      onGone(error instanceof Error ? error.message : String(error))
    }
    setTimeout(look, STATUS_MS)
  }
  look()
}

export function showNotice(text) {
  byId('notice').hidden = text === ''
  byId('notice').textContent = text
}
