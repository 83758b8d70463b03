import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { Format } from '../../serve/sql/formats.js'

export type View = { name: string; summary: string; columns: { name: string; type: string; description: string }[] }

export interface SqlClient {
  /** `asOf`: the seq of each chain that the answer includes. */
  run(query: string, format: Format): Promise<{ body: Buffer; asOf: string }>
  views(): Promise<View[]>
}

export function createSqlClient(url: string, key: string): SqlClient {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new ConfigError({ code: 'option_invalid', what: `--url is not valid: ${url}`, expected: 'http://host:port' })

  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const response = await fetch(new URL(path, url), { ...init, headers }).catch((cause) => {
      throw new DextapeError({
        code: 'unreachable',
        what: `Cannot connect to ${url}`,
        fix: 'Check that `dextape up` is running, or name its REST port with --url.',
        cause,
      })
    })
    if (response.ok) return response
    const { detail, code } = (await response.json().catch(() => ({}))) as { detail?: string; code?: string }
    throw new DextapeError({ code: code ?? 'refused', what: detail ?? `The server answered ${response.status}` })
  }

  return {
    async run(query, format) {
      const response = await ask('/v2/sql', { method: 'POST', body: JSON.stringify({ query, format }) })
      return { body: Buffer.from(await response.arrayBuffer()), asOf: response.headers.get('x-as-of') ?? '' }
    },
    async views() {
      const { views } = (await (await ask('/v2/sql/schema')).json()) as { views: View[] }
      return views
    },
  }
}
