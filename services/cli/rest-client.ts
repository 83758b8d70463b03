/** Requests to a running server. */
import type { Config } from '../core/config/index.js'
import { ConfigError, DextapeError } from '../core/domain/errors.js'
import { restUrl } from '../core/runtime/ports.js'

export interface RestClient {
  url: string
  /** Rejects if there is no answer. */
  request(path: string, init?: RequestInit): Promise<Response>
  /** Rejects with the server's reason if the answer is an error. */
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** `url`: that of --url, else the configured host and port. */
export function createRestClient(config: Config, url: string | undefined, key?: string): RestClient {
  return restClientOf(url ?? restUrl(config, config.httpPort), key)
}

export function restClientOf(url: string, key?: string): RestClient {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new ConfigError({ code: 'option_invalid', what: `--url is not valid: ${url}`, expected: 'http://host:port' })

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(key === undefined ? {} : { 'x-api-key': key }), ...init.headers }
    return fetch(new URL(path, url), { ...init, headers }).catch((cause) => {
      throw unreachable(url, cause)
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

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_/

export function unreachable(url: string, cause: unknown): DextapeError {
  const { code, cause: inner } = cause as { code?: string; cause?: { code?: string } }
  const reason = inner?.code ?? code ?? ''
  return new DextapeError({
    code: 'unreachable',
    what: `Cannot connect to ${url}`,
    ...(UNTRUSTED.test(reason)
      ? { got: reason, fix: 'Trust its certificate: NODE_EXTRA_CA_CERTS=FILE, with the certificate of its authority.' }
      : { fix: 'Check that `dextape up` is running, or name its REST port with --url.' }),
    cause,
  })
}
