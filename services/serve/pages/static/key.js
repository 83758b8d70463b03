/** The API key: from `#key=…` in the address (and at once out of it), then kept in this browser. */
const STORED = 'dextape-key'

export function readKey() {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const given = fragment.get('key')
  if (given === null) return localStorage.getItem(STORED) ?? ''
  fragment.delete('key')
  const rest = fragment.toString()
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
