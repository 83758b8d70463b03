/** Requests to a running server. */
import type { Config } from '../core/config/index.js'
import { ConfigError, DextapeError } from '../core/domain/errors.js'
import { hostInUrl } from '../core/runtime/ports.js'

export interface RestClient {
  url: string
  /** Rejects if there is no answer. */
  request(path: string, init?: RequestInit): Promise<Response>
  /** Rejects with the server's reason if the answer is an error. */
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** `url`: that of --url, else the configured host and port. */
export function createRestClient(config: Config, url: string | undefined, key?: string): RestClient {
  return restClientOf(url ?? `http://${hostInUrl(config.host)}:${config.httpPort}`, key)
}

export function restClientOf(url: string, key?: string): RestClient {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new ConfigError({ code: 'option_invalid', what: `--url is not valid: ${url}`, expected: 'http://host:port' })

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(key === undefined ? {} : { 'x-api-key': key }), ...init.headers }
    return fetch(new URL(path, url), { ...init, headers }).catch((cause) => {
      throw new DextapeError({
        code: 'unreachable',
        what: `Cannot connect to ${url}`,
        fix: 'Check that `dextape up` is running, or name its REST port with --url.',
        cause,
      })
    })
  }

  return {
    url,
    request,
    async ask(path, init) {
      const response = await request(path, init)
      if (response.ok) return response
      const { detail, code } = (await response.json().catch(() => ({}))) as { detail?: string; code?: string }
      throw new DextapeError({ code: code ?? 'refused', what: detail ?? `The server answered ${response.status}` })
    },
  }
}
