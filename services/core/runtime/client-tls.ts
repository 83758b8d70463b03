/** The files that say whom a client trusts, and who it is. */
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { ConfigError } from '../domain/errors.js'

/** Absolute paths of PEM files. */
export type ClientTlsFiles = { ca?: string; cert?: string; key?: string }

export type ClientTlsTexts = { ca?: Buffer; cert?: Buffer; key?: Buffer }

export function readClientTls(files: ClientTlsFiles): ClientTlsTexts {
  return Object.fromEntries(Object.entries(files).map(([part, path]) => [part, readPart(part, path)]))
}

function readPart(part: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new ConfigError({
      code: 'tls_unreadable',
      what: `Cannot read the TLS file ${path} (${part})`,
      got: (cause as NodeJS.ErrnoException).code ?? (cause as Error).message,
      fix: 'Set it to a PEM file that this user can read.',
      cause,
    })
  }
}

type Request = { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal }

/** As `fetch`, which cannot trust an authority of one's own. */
export function fetchWith(files: ClientTlsFiles): typeof fetch {
  const texts = readClientTls(files)
  const ask = (url: string, { method = 'GET', headers = {}, body, signal }: Request = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const options = { method, headers, ...texts, ...(signal === undefined ? {} : { signal }) }
      const sent = request(url, options, (answer) => {
        buffer(answer).then((bytes) => resolve(new Response(bytes, { status: answer.statusCode ?? 500 })), reject)
      })
      sent.on('error', reject).end(body)
    })
  return ask as unknown as typeof fetch
}
