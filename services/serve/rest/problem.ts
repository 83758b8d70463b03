import { METHODS, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import type { Refusal } from '../keys/key-gate.js'

/** An error answer: RFC 9457, with `code` for programs and `msg` for readers of the older body. */
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  code: string
  msg: string
  [extra: string]: unknown
}

/** Thrown by operations for what the caller can put right. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly headers: Record<string, string> = {},
    readonly extra: Record<string, unknown> = {},
  ) {
    super(detail)
    this.name = 'RequestError'
  }
}

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Server error',
  503: 'Service unavailable',
}

export function problem(status: number, code: string, detail: string, extra: Record<string, unknown> = {}): Problem {
  const title = TITLES[status] ?? 'Error'
  return { type: `urn:dextape:problem:${code}`, title, status, detail, code, msg: detail, ...extra }
}

export function badRequest(code: string, detail: string): RequestError {
  return new RequestError(400, code, detail)
}

/** Asked again a little later, the same request may succeed. */
export function serviceUnavailable(code: string, detail: string): RequestError {
  return new RequestError(503, code, `${detail} Ask again in a moment.`, { 'retry-after': '2' })
}

export const nodeStarting = (): RequestError =>
  serviceUnavailable('starting', 'This node is starting and has not loaded its data yet.')

export function refusalError(refusal: Refusal): RequestError {
  switch (refusal.kind) {
    case 'missing':
      return new RequestError(401, 'key_missing', 'Send your API key in the X-API-KEY header.')
    case 'invalid':
      return new RequestError(401, 'key_invalid', 'This API key is not known here, or was revoked.')
    case 'expired':
      return new RequestError(403, 'key_expired', 'This API key has expired.')
    case 'rate_limited':
      return new RequestError(429, 'rate_limited', `This key allows ${refusal.ratePerS} requests per second.`, {
        'retry-after': String(refusal.retryAfterS),
      })
    case 'cu_exhausted':
      return new RequestError(
        429,
        'cu_exhausted',
        'The credit units of this key are spent for this month.',
        { 'retry-after': String(refusal.retryAfterS) },
        { reset_at: refusal.resetAtS },
      )
  }
}

const REASONS: Record<string, { status: number; code: string; detail: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', detail: 'The address and headers are over 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', detail: 'The request did not arrive in time.' },
}
const NO_HTTP = { status: 400, code: 'http_malformed', detail: 'This is not an HTTP request that can be read.' }

/** Bytes that never became a request are told so in the same form as any other error. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, detail } = REASONS[error.code ?? ''] ?? NO_HTTP
  const body = JSON.stringify(problem(status, code, detail))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Those Node reads; CONNECT never becomes a request. */
const READABLE = METHODS.filter((method) => method !== 'CONNECT')

/** The framework must know a method to route it. */
export function registerAllMethods(app: FastifyInstance): void {
  for (const method of READABLE) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** A known path asked with another method is told which ones it takes: 405, before a body is read. */
export function refuseOtherMethods(app: FastifyInstance, url: string, served: 'GET' | 'POST'): void {
  const allowed: readonly HTTPMethods[] = served === 'GET' ? ['GET', 'HEAD'] : [served]
  app.route({
    method: READABLE.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest: async (request) => {
      const allow = allowed.join(', ')
      const path = request.url.split('?')[0] ?? ''
      throw new RequestError(
        405,
        'method_not_allowed',
        `${path.slice(0, 200)} takes ${allow}, not ${request.method}.`,
        {
          allow,
        },
      )
    },
    handler: async () => {},
  })
}
