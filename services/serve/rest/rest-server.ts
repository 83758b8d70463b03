import { setTimeout as sleep } from 'node:timers/promises'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { isRetryable } from '../../core/runtime/backoff.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { MetricsText } from '../../core/runtime/metrics.js'
import type { Certificate } from '../../core/runtime/tls-files.js'
import { addDatafeed } from '../datafeed/datafeed-routes.js'
import type { Memory, NotReady } from '../memory/memory.js'
import type { RepairReport } from '../serve-deps.js'
import type { StatusReport } from '../status-report.js'
import { allowOrigins } from './cors.js'
import { shareJsonBodies } from './json-bodies.js'
import { OPERATIONS } from './operations/index.js'
import {
  answerMalformed,
  problem,
  RequestError,
  refuseOtherMethods,
  registerAllMethods,
  serviceUnavailable,
} from './problem.js'
import { type RestDeps, serveOperation } from './serve-operation.js'

/** From the first byte to the end of the body: a request that trickles in holds a connection. */
const REQUEST_WITHIN_MS = 30_000
/** How often Node looks for requests that are over their time. */
const TIMEOUT_CHECK_MS = 5000
const MAX_BODY_BYTES = 1_048_576
/** Longer than any id, so that an oversized id gives "malformed id" instead of "no such route". */
const MAX_PARAM_LENGTH = 4096

/** Creates the REST server with every operation; the caller adds the routes without a key and listens. */
export function createRestServer(deps: RestDeps, certificate?: Certificate): FastifyInstance {
  const app = fastify({
    ...(certificate === undefined
      ? { http: { connectionsCheckingInterval: TIMEOUT_CHECK_MS } }
      : { https: { ...certificate, connectionsCheckingInterval: TIMEOUT_CHECK_MS } }),
    logger: false,
    requestTimeout: REQUEST_WITHIN_MS,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: (error, _request, reply) => sendProblem(reply, asRequestError(error, deps.logger, '')),
    clientErrorHandler: answerMalformed,
    forceCloseConnections: true,
  })
  registerAllMethods(app)
  shareJsonBodies(app)
  allowOrigins(app, deps.corsOrigins)
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const refusal = asRequestError(error, deps.logger, request.routeOptions.url ?? '')
    if (refusal.code === 'key_invalid') await sleep(deps.badKeys.note(request.ip, 'rest'))
    return sendProblem(reply, refusal)
  })
  app.setNotFoundHandler((request, reply) => sendProblem(reply, notFound(request)))
  app.addHook('onResponse', async (request, reply) => {
    deps.metrics.requests.add(String(reply.statusCode))
    deps.metrics.responseSeconds.add(reply.elapsedTime / 1000)
    deps.metrics.requestSeconds.add(request.routeOptions.url ?? 'none', reply.elapsedTime / 1000)
  })
  for (const operation of OPERATIONS) serveOperation(app, operation, deps)
  addDatafeed(app, deps)
  return app
}

function notFound(request: FastifyRequest): RequestError {
  const path = request.url.split('?')[0] ?? ''
  return new RequestError(404, 'route_unknown', `No such route: ${request.method} ${path.slice(0, 200)}.`)
}

function sendProblem(reply: FastifyReply, error: RequestError): FastifyReply {
  const body = problem(error.status, error.code, error.message, error.extra)
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(body))
}

/** The framework's 4xx errors are the caller's; any other error is internal and only logged. */
export function asRequestError(error: FastifyError | RequestError, logger: Logger, route: string): RequestError {
  if (error instanceof RequestError) return error
  if (error.code === 'store_busy')
    return serviceUnavailable('store_busy', 'Too many queries are waiting for the store.')
  // Only the store can be unavailable here: memory always answers.
  if (isRetryable(error)) return serviceUnavailable('store_away', 'The store is unavailable.')
  const fromRequest = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
  if (fromRequest) return new RequestError(400, FRAMEWORK_CODES[error.code] ?? 'request_invalid', error.message)
  logger.error('request failed', { route, error })
  return new RequestError(500, 'internal', 'Internal error; see the server log.')
}

const FRAMEWORK_CODES: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'content_type_unsupported',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body_empty',
  FST_ERR_CTP_INVALID_JSON_BODY: 'json_malformed',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'content_length_wrong',
  FST_ERR_BAD_URL: 'url_malformed',
}

type ServiceDeps = {
  memory: Memory
  metrics: MetricsText
  status: () => Promise<StatusReport>
  repairs: (() => RepairReport[]) | undefined
}

/** Adds the routes for operators and probes, which need no key. */
export function addServiceRoutes(app: FastifyInstance, { memory, metrics, status, repairs }: ServiceDeps): void {
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/ready', async (_request, reply) => {
    const notReady = memory.whyNotReady() ?? whyRepairing(repairs?.() ?? [])
    return notReady === undefined ? { status: 'ready' } : reply.code(503).header('retry-after', '1').send(notReady)
  })
  app.get('/status', async () => status())
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  for (const url of ['/health', '/ready', '/status', '/metrics']) refuseOtherMethods(app, url, 'GET')
}

/** With holes in its history a server is not ready, although it answers. */
function whyRepairing(repairs: readonly RepairReport[]): NotReady | undefined {
  const chains = [...new Set(repairs.flatMap(({ until }) => Object.keys(until)))].sort()
  if (chains.length === 0) return undefined
  const reason = `Repairing damaged data of ${chains.join(', ')}; /status has the details.`
  return { status: 'repairing', reason, behind: chains }
}
