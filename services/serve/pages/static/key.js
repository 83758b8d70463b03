/** The API key: from `#key=…` in the address (and at once out of it), then kept in this browser. */
const STORED = 'dextape-key'

export function readKey() {
  const parts = location.hash.slice(1).split('&')
  const given = new URLSearchParams(parts.find((part) => part.startsWith('key='))).get('key')
  if (given === null) return localStorage.getItem(STORED) ?? ''
  const rest = parts.filter((part) => !part.startsWith('key=')).join('&')
  history.replaceState(null, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`)
  keepKey(given)
  return given
}

export function keepKey(key) {
  localStorage.setItem(STORED, key)
}

export function forgetKey() {
  localStorage.removeItem(STORED)
}
