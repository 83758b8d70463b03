/** The REST interface as OpenAPI 3.1, made from the declared operations. Pure: declarations in, document out. */

import type { TObject } from '@sinclair/typebox'
import type { Operation } from '../rest/operation.js'
import { type JsonSchema, jsonSchema, orNull } from './json-schema.js'

/** An operation as far as documents tell of it. */
export type Documented = Omit<Operation, 'handle'>

export type OpenApiOptions = {
  operations: readonly Documented[]
  /** `always`: this installation wraps every success body. */
  envelope: 'spec' | 'always'
  /** Where the interface is reached from outside, all equal; none: wherever the document came from. */
  publicUrls: readonly string[]
}

export type Document = { [member: string]: unknown }

const DESCRIPTION = [
  'Market data of tokens and trading pairs on several chains, computed by this server from the blocks it reads.',
  'A token-id is `<token_address>-<chain>`, a pair-id `<pair_address>-<chain>`. Amounts and prices are plain decimal strings; times are epoch seconds.',
  'What is unknown is `null`, `""` or 0, never invented; `X-Reason` says why an answer is empty.',
  'Success bodies are wrapped as `{"status":1,"msg":"SUCCESS","data_type":1,"data":…}` where an operation says so; the request header `X-Envelope: always` asks for it everywhere.',
].join('\n\n')

export function openApiDocument({ operations, envelope, publicUrls }: OpenApiOptions): Document {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const item = paths[operation.path] ?? {}
    item[operation.method.toLowerCase()] = operationObject(operation, envelope === 'always' || operation.envelope)
    paths[operation.path] = item
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Dextape', version: INTERFACE_VERSION, description: DESCRIPTION, license: LICENSE },
    servers: serversOf(publicUrls),
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
      schemas: { Problem: PROBLEM_SCHEMA },
      headers,
      responses: errorResponses,
    },
  }
}

function operationObject(operation: Documented, wrapped: boolean): Document {
  const parameters = [...parametersOf(operation.params, 'path'), ...parametersOf(operation.query, 'query')]
  const errors = ERROR_STATUSES.map((status) => [status, { $ref: `#/components/responses/${status}` }])
  return {
    operationId: operation.id,
    tags: [tagOf(operation)],
    summary: operation.summary,
    'x-cu-cost': operation.costCu,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(jsonSchema(operation.body, '2020-12')) } }),
    responses: { 200: success(operation, wrapped), ...Object.fromEntries(errors) },
  }
}

/** `/v2/tokens/…`: tokens. */
function tagOf({ path }: Documented): string {
  return path.split('/')[2] ?? ''
}

function parametersOf(declared: TObject, place: 'path' | 'query'): Document[] {
  const { properties = {}, required = [] } = jsonSchema(declared, '2020-12') as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }))
}

function success(operation: Documented, wrapped: boolean): Document {
  const data = jsonSchema(operation.data, '2020-12')
  const shown = operation.nullable === true ? orNull(data) : data
  const names = Object.keys(headers).filter((name) => name !== 'Retry-After')
  return {
    description: operation.nullable === true ? 'Success; null where nothing is known of it' : 'Success',
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: jsonContent(wrapped ? envelopeOf(shown) : shown),
  }
}

function envelopeOf(data: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['status', 'msg', 'data_type', 'data'],
    properties: {
      status: { type: 'integer' },
      msg: { type: 'string' },
      data_type: { type: 'integer' },
      data,
    },
  }
}

function jsonContent(schema: JsonSchema): Document {
  return { 'application/json': { schema } }
}

/**
 * The hosts of the REST interface. The interface lists two that are equal: those configured, else wherever the document came
 * from; a second one that nobody named stays a variable.
 */
export function serversOf(publicUrls: readonly string[]): Record<string, unknown>[] {
  const [first = '/', ...others] = publicUrls
  const named = [first, ...others].map((url, index) => ({
    url,
    description: index === 0 ? 'This server' : 'An equivalent host',
  }))
  if (others.length > 0) return named
  const alternative = { default: first, description: 'Address of a second, equivalent host where there is one' }
  return [
    ...named,
    { url: '{alt_base_url}', description: 'An equivalent host', variables: { alt_base_url: alternative } },
  ]
}

/** The version of the interface, which is not the program's. */
export const INTERFACE_VERSION = '2.1.0'

export const LICENSE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }

const header = (description: string, type: 'string' | 'integer') => ({ description, schema: { type } })

export const headers = {
  'X-As-Of': header("The chain's now, epoch seconds; of several chains the lowest, then each by name", 'string'),
  'X-CU-Cost': header('What this request cost, in credit units', 'integer'),
  'X-CU-Remaining': header('Credit units left this month; only for keys with a quota', 'integer'),
  'X-Reason': header('Why data is empty or full of nulls, where it is', 'string'),
  RateLimit: header('Requests left in this second; only for keys with a rate', 'string'),
  'RateLimit-Policy': header('The rate of this key', 'string'),
  'Retry-After': header('Seconds to wait', 'integer'),
}

export const PROBLEM_SCHEMA: JsonSchema = {
  description: 'An error as RFC 9457 writes it',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'msg'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What was wrong' },
    code: { type: 'string', description: 'What was wrong, for programs' },
    msg: { type: 'string', description: 'Repeats detail' },
    reset_at: {
      type: 'integer',
      description: 'With cu_exhausted: when the credit units are given anew, epoch seconds',
    },
  },
}

export const ERROR_STATUSES = ['400', '401', '403', '429', '500', '503'] as const

const MEANINGS: Record<(typeof ERROR_STATUSES)[number], string> = {
  400: 'Bad request; detail says what was wrong',
  401: 'API key missing or invalid',
  403: 'API key expired',
  429: 'Too many requests in a second (rate_limited) or credit units spent (cu_exhausted)',
  500: 'Server error',
  503: 'The store does not answer at the moment (store_away), or this node is starting',
}

export const errorResponses = Object.fromEntries(
  ERROR_STATUSES.map((status) => [
    status,
    {
      description: MEANINGS[status],
      ...(status === '429' || status === '503'
        ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }
        : {}),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ]),
)
