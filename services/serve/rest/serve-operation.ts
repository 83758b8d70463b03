import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../core/runtime/logger.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { Access, KeyGate } from '../keys/key-gate.js'
import type { ServeMetrics } from '../serve-metrics.js'
import { refuseOtherMethods } from './methods.js'
import { type Answer, envelope, envelopeSchema, type Operation, type OperationContext } from './operation.js'
import { refused, stillLoading } from './problem.js'
import { queryValidator, validator } from './validate.js'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Makes routes of a declared operation: key, validation, answer, envelope, headers. */
export function serveOperation(app: FastifyInstance, operation: Operation, deps: RestDeps): void {
  for (const path of [operation.path, ...(operation.aliases ?? [])]) {
    const url = path.replace(/\{([^}]+)\}/g, (_, name: string) => `:${routerName(name)}`)
    addRoute(app, url, operation, deps)
    refuseOtherMethods(app, url, operation.method)
  }
}

function addRoute(app: FastifyInstance, url: string, operation: Operation, deps: RestDeps): void {
  const { gate, metrics } = deps
  const checkParams = validator(operation.params, 'path')
  const checkQuery = queryValidator(operation.query)
  const checkBody = operation.body === undefined ? undefined : validator(operation.body, 'body')
  const schemas = { bare: operation.data, wrapped: envelopeSchema(operation.data) }
  const accessOf = new WeakMap<FastifyRequest, Access>()

  app.route({
    method: operation.method,
    url,
    // Before the body is read: who has no key sends no megabytes.
    onRequest: async (request, reply) => {
      if (!deps.isLoaded()) throw stillLoading()
      const key = request.headers['x-api-key']
      const admission = gate.admit(typeof key === 'string' ? key : '', operation.costCu)
      if (!admission.ok) throw refused(admission.refusal)
      accessOf.set(request, admission.access)
      rateHeaders(reply, gate, admission.access)
    },
    handler: async (request, reply) => {
      const answer = await operation.handle(deps, {
        params: checkParams(namedParams(operation, request.params)) as Record<string, never>,
        query: checkQuery(request.query) as Record<string, never>,
        body: checkBody?.(request.body),
      })
      const wrap = operation.envelope || deps.envelope === 'always' || request.headers['x-envelope'] === 'always'
      const body = serialize(reply, answer, wrap, schemas)
      const access = accessOf.get(request)
      if (access !== undefined) {
        gate.spend(access, operation.costCu)
        metrics.cu.add(operation.id, operation.costCu)
        const remaining = gate.remainingCu(access)
        if (remaining !== null) reply.header('x-cu-remaining', remaining)
      }
      reply.header('x-cu-cost', operation.costCu).header('x-as-of', asOf(deps.chains, answer.chains)).type(JSON_TYPE)
      if (answer.reason !== undefined) reply.header('x-reason', answer.reason)
      return reply.send(body)
    },
  })
}

/** The router takes a dash for the end of a parameter's name. */
function routerName(name: string): string {
  return name.replaceAll('-', '_')
}

function namedParams(operation: Operation, params: unknown): Record<string, unknown> {
  const given = params as Record<string, unknown>
  return Object.fromEntries(Object.keys(operation.params.properties).map((name) => [name, given[routerName(name)]]))
}

function serialize(
  reply: FastifyReply,
  answer: Answer<unknown>,
  wrap: boolean,
  schemas: { bare: TSchema; wrapped: TSchema },
): string {
  const body = wrap ? envelope(answer.data, answer.msg) : answer.data
  // The declared schema describes data that is there.
  if (answer.data === null) return JSON.stringify(body)
  return String(reply.serializeInput(body as Record<string, unknown>, wrap ? schemas.wrapped : schemas.bare))
}

function rateHeaders(reply: FastifyReply, gate: KeyGate, access: Access): void {
  const remaining = gate.remainingInSecond(access)
  if (remaining === null) return
  reply.header('ratelimit-policy', `"default";q=${access.ratePerS};w=1`)
  reply.header('ratelimit', `"default";r=${remaining};t=1`)
}

/** X-As-Of: a chain's now; of several the lowest, then each by name. */
export function asOf(directory: ChainDirectory, chains: readonly string[]): string {
  const times = chains.map((chain): [string, number] => [chain, directory.market(chain)?.state.nowS ?? 0])
  const lowest = Math.min(...times.map(([, timeS]) => timeS))
  if (times.length <= 1) return String(Number.isFinite(lowest) ? lowest : 0)
  return [String(lowest), ...times.map(([chain, timeS]) => `${chain}=${timeS}`)].join('; ')
}

export type RestDeps = OperationContext & {
  gate: KeyGate
  metrics: ServeMetrics
  logger: Logger
  envelope: 'spec' | 'always'
  /** False until there is something to answer from. */
  isLoaded: () => boolean
}
