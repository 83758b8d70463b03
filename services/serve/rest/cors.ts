/**
 * Lets pages of other origins call the API from a browser (CORS). A hook of our own instead of a plugin: every path already
 * answers OPTIONS with 405, and only `/v2` and `/udf` are opened.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.js'
import { RequestError } from './problem.js'

const OPEN_PATHS = ['/v2/', '/udf/']
const METHODS = 'GET, HEAD, POST'
const REQUEST_HEADERS = 'X-API-KEY, X-Envelope, Content-Type, If-None-Match'
/** Without this a page can read only the body and a few standard headers. */
const EXPOSED = [
  ...['ETag', 'Retry-After', 'RateLimit', 'RateLimit-Policy'],
  ...['X-As-Of', 'X-CU-Cost', 'X-CU-Remaining', 'X-Reason', 'X-Next-Cursor'],
].join(', ')
/** The longest time a browser keeps the answer to a preflight. */
const MAX_AGE_S = '7200'

export function allowOrigins(app: FastifyInstance, allowed: Config['corsOrigins']): void {
  if (allowed.kind === 'none') return
  const origins = allowed.kind === 'list' ? new Set(allowed.origins) : undefined

  app.addHook('onRequest', (request, reply, done) => {
    if (!OPEN_PATHS.some((path) => request.url.startsWith(path))) return done()
    const { origin } = request.headers
    if (origins !== undefined) reply.header('vary', 'origin')
    // Only browsers send it, with requests to another origin.
    if (origin === undefined) return done()
    const isAllowed = origins === undefined || origins.has(origin)
    if (isAllowed) reply.header('access-control-allow-origin', origins === undefined ? '*' : origin)
    if (isPreflight(request)) return isAllowed ? answerPreflight(reply) : done(originNotAllowed(origin))
    if (isAllowed) reply.header('access-control-expose-headers', EXPOSED)
    done()
  })
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Needs no key: browsers send none with a preflight. */
function answerPreflight(reply: FastifyReply): void {
  reply
    .header('access-control-allow-methods', METHODS)
    .header('access-control-allow-headers', REQUEST_HEADERS)
    .header('access-control-max-age', MAX_AGE_S)
    .code(204)
    .send()
}

function originNotAllowed(origin: string): RequestError {
  return new RequestError(
    403,
    'origin_not_allowed',
    `Pages of "${origin.slice(0, 200)}" may not call this server. Its operator can add the origin to cors_origins.`,
  )
}
