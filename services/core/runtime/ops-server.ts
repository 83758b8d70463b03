/** HTTP server of a process without an API, for operators and probes: /health, /ready, /status, /metrics. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from './logger.js'
import type { Metrics } from './metrics.js'
import { portError } from './ports.js'

export type OpsDeps = {
  /** While false, /ready is 503. */
  isReady: () => boolean
  /** Answered as JSON; must not wait for anything that may be unreachable. */
  status: () => unknown
  metrics: Pick<Metrics, 'text' | 'contentType'>
  logger: Logger
}

export interface OpsServer {
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>
  close(): Promise<void>
}

type Answer = { status: number; type?: string; headers?: Record<string, string>; body: string }

const JSON_TYPE = 'application/json; charset=utf-8'

export function createOpsServer({ isReady, status, metrics, logger }: OpsDeps): OpsServer {
  const pages = new Map<string, () => Answer | Promise<Answer>>([
    ['/health', () => json(200, { status: 'ok' })],
    ['/ready', () => (isReady() ? json(200, { status: 'ready' }) : notReady())],
    ['/status', () => json(200, status())],
    ['/metrics', async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() })],
  ])

  async function answer({ method = '', url = '' }: IncomingMessage): Promise<Answer> {
    const path = url.split('?')[0] ?? ''
    const page = pages.get(path)
    if (page === undefined) {
      const detail = `Unknown path ${path.slice(0, 200)}. This server has ${[...pages.keys()].join(', ')}.`
      return problem(404, 'Not found', 'route_unknown', detail)
    }
    if (method !== 'GET' && method !== 'HEAD') {
      const refused = problem(
        405,
        'Method not allowed',
        'method_not_allowed',
        `${path} allows GET and HEAD, not ${method}.`,
      )
      return { ...refused, headers: { allow: 'GET, HEAD' } }
    }
    return page()
  }

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown) => {
        logger.error('request failed', { route: request.url, error })
        return problem(500, 'Server error', 'internal', 'The request failed; the error is in the log.')
      })
      .then((answered) => send(request, response, answered))
  })

  return {
    async listen(host, port) {
      server.listen(port, host)
      try {
        // Rejects if listening fails.
        await once(server, 'listening')
      } catch (cause) {
        throw portError(host, port, 'DEXTAPE_HTTP_PORT', cause)
      }
      return (server.address() as AddressInfo).port
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) }
}

function notReady(): Answer {
  return { ...json(503, { status: 'not_ready' }), headers: { 'retry-after': '1' } }
}

/** The form of every error of the interface: RFC 9457, with `code` and `msg`. */
function problem(status: number, title: string, code: string, detail: string): Answer {
  const body = { type: `urn:dextape:problem:${code}`, title, status, detail, code, msg: detail, message: detail }
  return { ...json(status, body), type: 'application/problem+json; charset=utf-8' }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, headers, body }: Answer): void {
  // An unread body would block the connection.
  request.resume()
  const bytes = Buffer.from(body)
  response.writeHead(status, { 'content-type': type ?? JSON_TYPE, 'content-length': bytes.length, ...headers })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
