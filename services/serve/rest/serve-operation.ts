import type { TObject, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { BadKeys } from '../keys/bad-keys.js'
import type { Access } from '../keys/key-gate.js'
import type { KeyQueries } from '../keys/key-queries.js'
import type { UntilPushed } from '../pushed-positions.js'
import { type AdmissionDeps, admitKey, charge, keyIn } from './admission.js'
import { type AnswerCache, type EncodedAnswer, encodeAnswer } from './answer-cache.js'
import { SHARED_BODY } from './json-bodies.js'
import { type Answer, envelope, envelopeSchema, type Operation, type OperationContext } from './operation.js'
import { type Encode, pageOf, sendPage } from './page-files.js'
import { badRequest, refuseOtherMethods } from './problem.js'
import { sendAnswer } from './send-answer.js'

/** Adds the routes of an operation: key check, validation, response, envelope, headers. */
export function serveOperation(app: FastifyInstance, operation: Operation, deps: RestDeps): void {
  for (const path of [operation.path, ...(operation.aliases ?? [])]) {
    const url = path.replace(/\{([^}]+)\}/g, (_, name: string) => `:${routerName(name)}`)
    addRoute(app, url, operation, deps)
    refuseOtherMethods(app, url, operation.method)
  }
}

function addRoute(app: FastifyInstance, url: string, operation: Operation, deps: RestDeps): void {
  const { answers } = deps
  const checkParams = validator(operation.params, 'path')
  const checkQuery = queryValidator(operation.query)
  const checkBody = operation.body === undefined ? undefined : validator(operation.body, 'body')
  const schemas = { bare: operation.data, wrapped: envelopeSchema(operation) }
  const accessOf = new WeakMap<FastifyRequest, Access>()
  const readBody = checkBody && onceForEach((body: unknown) => textOf(checkBody(body)))

  async function makeAnswer(
    { params, query, body }: FastifyRequest,
    reply: FastifyReply,
    wrap: boolean,
  ): Promise<EncodedAnswer> {
    const answer = await operation.handle(deps, {
      params: checkParams(namedParams(operation, params)) as Record<string, never>,
      query: checkQuery(query) as Record<string, never>,
      // Checked before, for the key.
      body,
    })
    return encodeAnswer(Buffer.from(serialize(reply, answer, wrap, schemas)), answer)
  }

  app.route({
    method: operation.method,
    url,
    config: SHARED_BODY,
    // Before the body is read: without a valid key no body is accepted.
    onRequest: (request, reply, done) => {
      accessOf.set(request, admitKey(deps, keyIn(request), operation.costCu, reply))
      done()
    },
    handler: async (request, reply) => {
      const behind = deps.untilPushed()
      if (behind !== undefined) await behind
      const wrap = operation.envelope || deps.envelope === 'always' || request.headers['x-envelope'] === 'always'
      // First: the key contains the body, and an unchecked one may be nested too deeply for any text.
      const bodyText = readBody?.(request.body)
      const make = () => makeAnswer(request, reply, wrap)
      const access = accessOf.get(request) as Access
      // Only a request that makes its answer counts: identical ones wait for the same queries.
      const within = operation.readsStore === undefined ? make : () => deps.queries.run(access, make)
      const answer = await answers.answer(keyOf(request, bodyText, wrap), within)
      const page = await pageOf(request, answer, operation.file, deps.encodePage)
      charge(deps, access, operation, reply)
      reply.header('x-as-of', asOf(deps.chains, answer.chains))
      if (answer.reason !== undefined) reply.header('x-reason', answer.reason)
      return page === undefined ? sendAnswer(request, reply, answer) : sendPage(reply, page)
    },
  })
}

/** Identical requests have the same key; the path names the operation. */
function keyOf({ method, url }: FastifyRequest, bodyText: string | undefined, wrap: boolean): string {
  const asked = method === 'POST' ? `${url} ${bodyText}` : url
  return wrap ? `+${asked}` : asked
}

const textOf = (body: unknown): string | undefined => JSON.stringify(body)

/** Computes once for each object. Equal bodies are one object. */
function onceForEach<Value>(compute: (body: unknown) => Value): (body: unknown) => Value {
  const known = new WeakMap<object, Value>()
  return (body) => {
    if (typeof body !== 'object' || body === null) return compute(body)
    const before = known.get(body)
    if (before !== undefined) return before
    const value = compute(body)
    known.set(body, value)
    return value
  }
}

/** The router ends parameter names at a dash. */
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
  const body = wrap ? envelope(answer.data, answer.msg, answer.unknownIds) : answer.data
  // The declared schema only describes non-null data.
  if (answer.data === null) return JSON.stringify(body)
  return String(reply.serializeInput(body as Record<string, unknown>, wrap ? schemas.wrapped : schemas.bare))
}

/** X-As-Of: a chain's now; of several the lowest, then each by name. */
export function asOf(directory: ChainDirectory, chains: readonly string[]): string {
  const times = chains.map((chain): [string, number] => [chain, directory.market(chain)?.state.nowS ?? 0])
  const lowest = Math.min(...times.map(([, timeS]) => timeS))
  if (times.length <= 1) return String(Number.isFinite(lowest) ? lowest : 0)
  return [String(lowest), ...times.map(([chain, timeS]) => `${chain}=${timeS}`)].join('; ')
}

export type RestDeps = OperationContext &
  AdmissionDeps & {
    answers: AnswerCache
    queries: KeyQueries
    badKeys: BadKeys
    logger: Logger
    envelope: 'spec' | 'always'
    corsOrigins: Config['corsOrigins']
    untilPushed: UntilPushed
    encodePage: Encode
  }

export type Validator = (value: unknown) => unknown

/** A check of a declared schema that throws a 400 with the first error. Compiled for its first value: few of all are asked for. */
export function validator(schema: TSchema, where: 'path' | 'query' | 'body'): Validator {
  let compiled: TypeCheck<TSchema> | undefined
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema)
    const check = compiled
    if (check.Check(value)) return value
    const error = check.Errors(value).First()
    const name = error?.path.slice(1).replaceAll('/', '.') ?? ''
    const subject = name === '' ? `The ${where}` : `\`${name}\``
    const isMissing = error?.type === ValueErrorType.ObjectRequiredProperty
    const reason = isMissing ? `is required in the ${where}` : error === undefined ? 'is invalid' : reasonOf(error)
    throw badRequest(`${where}_invalid`, `${subject} ${reason}.`)
  }
}

/** Query values are text: integers are parsed where the schema declares them, nothing else is coerced. */
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

function reasonOf({ type, schema, message, value }: ValueError): string {
  const allowed = (schema.anyOf ?? [schema]).flatMap((one: { const?: unknown }) =>
    one.const === undefined ? [] : [one.const],
  )
  const rule = allowed.length > 0 ? allowed.join(' or ') : (RULES[type]?.(schema) ?? message)
  return `must be ${rule}, got ${describeValue(value)}`
}

const atLeast = ({ minimum }: TSchema) => `at least ${minimum}`
const atMost = ({ maximum }: TSchema) => `at most ${maximum}`

const RULES: Partial<Record<ValueErrorType, (schema: TSchema) => string>> = {
  [ValueErrorType.Integer]: () => 'an integer',
  [ValueErrorType.IntegerMinimum]: atLeast,
  [ValueErrorType.IntegerMaximum]: atMost,
  [ValueErrorType.Number]: () => 'a number',
  [ValueErrorType.NumberMinimum]: atLeast,
  [ValueErrorType.NumberMaximum]: atMost,
  [ValueErrorType.String]: () => 'a string',
  [ValueErrorType.StringMinLength]: ({ minLength }) => `at least ${minLength} characters long`,
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => `at most ${maxLength} characters long`,
  [ValueErrorType.StringPattern]: ({ pattern }) => `a string that matches ${pattern}`,
  [ValueErrorType.Array]: () => 'an array',
  [ValueErrorType.ArrayMinItems]: ({ minItems }) => `an array of at least ${minItems} items`,
  [ValueErrorType.Object]: () => 'an object',
}

/** A value nested too deeply to serialise is described by its type. */
function describeValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'nothing').slice(0, 80)
  } catch {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}
