import type { TObject, TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../core/runtime/logger.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { Access, KeyGate } from '../keys/key-gate.js'
import type { ServeMetrics } from '../serve-metrics.js'
import { type Answer, envelope, envelopeSchema, type Operation, type OperationContext } from './operation.js'
import { badRequest, nodeStarting, refusalError, refuseOtherMethods } from './problem.js'

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
      if (!deps.isLoaded()) throw nodeStarting()
      const key = request.headers['x-api-key']
      const admission = gate.admit(typeof key === 'string' ? key : '', operation.costCu)
      if (!admission.ok) throw refusalError(admission.refusal)
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

export type Validator = (value: unknown) => unknown

/** A check made from a declared schema; throws the 400 that says what was wrong. */
export function validator(schema: TSchema, where: 'path' | 'query' | 'body'): Validator {
  const check = TypeCompiler.Compile(schema)
  return (value) => {
    if (check.Check(value)) return value
    const error = check.Errors(value).First()
    const name = error?.path.slice(1).replaceAll('/', '.') ?? ''
    const what = name === '' ? where : `${where} ${name}`
    throw badRequest(`${where}_invalid`, `${what}: ${error === undefined ? 'is not as declared' : reasonOf(error)}.`)
  }
}

/** Query values come as text: whole numbers are read as such where the schema wants them, nothing else is guessed. */
export function queryValidator(schema: TObject): Validator {
  const check = validator(schema, 'query')
  const integers = new Set(
    Object.entries(schema.properties).flatMap(([name, { type }]) => (type === 'integer' ? [name] : [])),
  )
  return (value) => {
    const given = Object.entries(value as Record<string, unknown>)
    const read = given.map(([name, text]) => [name, integers.has(name) ? wholeNumber(text) : text])
    return check(Object.fromEntries(read))
  }
}

function wholeNumber(text: unknown): unknown {
  return typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

function reasonOf({ schema, message, value }: ValueError): string {
  const allowed = (schema.anyOf ?? [schema]).flatMap((one: { const?: unknown }) =>
    one.const === undefined ? [] : [one.const],
  )
  const wanted = allowed.length > 0 ? `must be ${allowed.join(' or ')}` : message
  return `${wanted}, got ${describeValue(value)}`
}

/** A value nested too deep to be written out is told by its kind. */
function describeValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'nothing').slice(0, 80)
  } catch {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}
