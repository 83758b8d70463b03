/** An endpoint's display name is its host: the rest of its URL may contain a key. */

export type EndpointName = {
  name: string
  /** Removes every part of the URL but its host from a foreign text, and shortens it. */
  redact(text: string): string
}

const MAX_CHARS = 300
const URL_LIKE = /\b(?:https?|wss?):\/\/[^\s"'<>]+/gi
/** Shorter parts (`v1`, `rpc`, `eth`) are not secrets and occur in ordinary words. */
const MIN_SECRET_CHARS = 6

export function endpointNames(urls: readonly string[]): EndpointName[] {
  const seen = new Map<string, number>()
  return urls.map((url) => {
    const { host } = new URL(url)
    const times = (seen.get(host) ?? 0) + 1
    seen.set(host, times)
    return { name: times === 1 ? host : `${host}#${times}`, redact: redactor(url) }
  })
}

function redactor(url: string): (text: string) => string {
  const { username, password, pathname, search, searchParams } = new URL(url)
  const parts = [username, password, search, ...pathname.split('/'), ...searchParams.values()]
  const decoded = parts.flatMap((part) => [part, decodeSafely(part)])
  if (username !== '' || password !== '') decoded.push(basicCredentials(url))
  const secrets = [...new Set(decoded)].filter((part) => part.length >= MIN_SECRET_CHARS)
  return (text) => {
    let clean = text.replace(URL_LIKE, '(a URL)')
    for (const secret of secrets) clean = clean.replaceAll(secret, '(hidden)')
    return clean.length > MAX_CHARS ? `${clean.slice(0, MAX_CHARS)}…` : clean
  }
}

/** As in the Authorization header: nodes and proxies repeat headers in error pages. */
export function basicCredentials(url: string): string {
  const { username, password } = new URL(url)
  return Buffer.from(`${decodeSafely(username)}:${decodeSafely(password)}`).toString('base64')
}

function decodeSafely(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
