/** A URL without user, password and query, and where asked without its path: each may hold a secret. */
export function withoutSecrets(url: string, { path = true } = {}): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${path ? pathname : ''}`
  } catch {
    return '(not a URL)'
  }
}
