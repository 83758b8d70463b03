import { METHODS, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import type { Refusal } from '../keys/key-gate.js'

/** An error response (RFC 9457), with `code` for programs; `msg` and `message` are where other programs look for `detail`. */
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  code: string
  msg: string
  message: string
  [extra: string]: unknown
}

/** Thrown by operations for errors the caller can fix. */
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
  return { type: `urn:dextape:problem:${code}`, title, status, detail, code, msg: detail, message: detail, ...extra }
}

export function badRequest(code: string, detail: string): RequestError {
  return new RequestError(400, code, detail)
}

/** The same request may succeed on a retry. */
export function serviceUnavailable(code: string, detail: string): RequestError {
  return new RequestError(503, code, `${detail} Retry in 2 s.`, { 'retry-after': '2' })
}

export const nodeStarting = (): RequestError =>
  serviceUnavailable('starting', 'The server is starting and still loading its data.')

export function refusalError(refusal: Refusal): RequestError {
  switch (refusal.kind) {
    case 'missing':
      return new RequestError(401, 'key_missing', 'API key missing. Send it in the X-API-KEY header.')
    case 'invalid':
      return new RequestError(401, 'key_invalid', 'API key unknown or revoked.')
    case 'expired':
      return new RequestError(403, 'key_expired', 'API key expired.')
    case 'datafeed_only':
      return new RequestError(403, 'key_datafeed_only', 'This API key opens the chart datafeed (/udf) only.')
    case 'not_in_address':
      return new RequestError(
        403,
        'key_not_in_address',
        'This API key may not stand in an address, where others can see it. Create one that opens the chart datafeed only: dextape keys create --name charts --only datafeed.',
      )
    case 'rate_limited':
      return new RequestError(
        429,
        'rate_limited',
        `Rate limit exceeded: this key (plan ${refusal.plan}) allows ${refusal.ratePerS} requests per second. Retry in 1 s, or use a key with a higher rate.`,
        { 'retry-after': String(refusal.retryAfterS) },
        { budget: 'requests_per_s', limit: refusal.ratePerS, plan: refusal.plan },
      )
    case 'cu_exhausted':
      return new RequestError(
        429,
        'cu_exhausted',
        `Quota exceeded: this key (plan ${refusal.plan}) allows ${refusal.quotaCu} credit units per month. Wait for the next month, or use a key with a higher quota.`,
        { 'retry-after': String(refusal.retryAfterS) },
        { reset_at: refusal.resetAtS, budget: 'cu_per_month', limit: refusal.quotaCu, plan: refusal.plan },
      )
  }
}

const REASONS: Record<string, { status: number; code: string; detail: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', detail: 'URL and headers exceed 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    detail: 'Request timed out before it was complete.',
  },
}
const NO_HTTP = { status: 400, code: 'http_malformed', detail: 'Malformed HTTP request.' }

/** Answers bytes that are not a valid request in the same format as any other error. */
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

/** Methods Node parses; CONNECT never becomes a request. */
const READABLE = METHODS.filter((method) => method !== 'CONNECT')

/** The framework only routes registered methods. */
export function registerAllMethods(app: FastifyInstance): void {
  for (const method of READABLE) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** Answers other methods on a known path with 405 and the allowed ones, before a body is read. */
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
        `${path.slice(0, 200)} does not support ${request.method}. Allowed: ${allow}.`,
        {
          allow,
        },
      )
    },
    handler: async () => {},
  })
}
