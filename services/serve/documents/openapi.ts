/** The REST API as OpenAPI 3.1, generated from the declared operations. Pure. */

import type { TObject, TSchema } from '@sinclair/typebox'
import { besideData, type Operation } from '../rest/operation.js'
import { type JsonSchema, jsonSchema, orNull } from './json-schema.js'

/** The documented part of an operation. */
export type Documented = Omit<Operation, 'handle' | 'data'> & {
  /** Undefined: no answer is JSON. */
  data?: TSchema
}

export type OpenApiOptions = {
  operations: readonly Documented[]
  /** `always`: every success body is wrapped. */
  envelope: 'spec' | 'always'
  /** Equivalent public URLs; empty: the URL the document was loaded from. */
  publicUrls: readonly string[]
}

export type Document = { [member: string]: unknown }

const DESCRIPTION = [
  'Market data of tokens and trading pairs, computed by this server from the blocks of several chains.',
  'A token-id is `<token_address>-<chain>`, a pair-id `<pair_address>-<chain>`. Amounts and prices are plain decimal strings; times are epoch seconds.',
  'Unknown values are `null`, `""` or 0; the `X-Reason` header says why a response is empty.',
  'Success bodies are wrapped as `{"status":1,"msg":"SUCCESS","data_type":1,"data":…}` for some operations; send `X-Envelope: always` to wrap every response.',
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
    responses: {
      200: success(operation, wrapped),
      ...(operation.method === 'GET' ? { 304: NOT_MODIFIED } : {}),
      ...Object.fromEntries(errors),
    },
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
  const left = operation.method === 'GET' ? ['Retry-After'] : ['Retry-After', ...Object.keys(CACHE_HEADERS)]
  const names = Object.keys(headers).filter((name) => !left.includes(name))
  return {
    description: operation.nullable === true ? 'Success; null if unknown' : 'Success',
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { ...dataContent(operation, wrapped), ...otherContent(operation) },
  }
}

function dataContent({ data, nullable, ...operation }: Documented, wrapped: boolean): Document {
  if (data === undefined) return {}
  const schema = nullable === true ? orNull(jsonSchema(data, '2020-12')) : jsonSchema(data, '2020-12')
  const beside = jsonSchema(besideData(operation), '2020-12').properties as Record<string, JsonSchema>
  return jsonContent(wrapped ? envelopeOf(schema, beside) : schema)
}

function otherContent({ otherTypes = [] }: Documented): Document {
  return Object.fromEntries(otherTypes.map((type) => [type, {}]))
}

function envelopeOf(data: JsonSchema, beside: Record<string, JsonSchema>): JsonSchema {
  return {
    type: 'object',
    required: ['status', 'msg', 'data_type', 'data'],
    properties: {
      status: { type: 'integer' },
      msg: { type: 'string' },
      data_type: { type: 'integer' },
      data,
      ...beside,
    },
  }
}

function jsonContent(schema: JsonSchema): Document {
  return { 'application/json': { schema } }
}

/**
 * The interface lists two equivalent hosts: the configured ones, or the host the document was loaded from. Without a second
 * host a variable takes its place.
 */
export function serversOf(publicUrls: readonly string[]): Record<string, unknown>[] {
  const [first = '/', ...others] = publicUrls
  const named = [first, ...others].map((url, index) => ({
    url,
    description: index === 0 ? 'This server' : 'An equivalent host',
  }))
  if (others.length > 0) return named
  const alternative = { default: first, description: 'URL of an equivalent host, if any' }
  return [
    ...named,
    { url: '{alt_base_url}', description: 'An equivalent host', variables: { alt_base_url: alternative } },
  ]
}

/** Version of the interface, not of Dextape. */
export const INTERFACE_VERSION = '2.1.0'

export const LICENSE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }

const header = (description: string, type: 'string' | 'integer') => ({ description, schema: { type } })

const CACHE_HEADERS = {
  ETag: header('Identifies the body: If-None-Match with it is answered 304 while the body is the same', 'string'),
  'Cache-Control': header('A range that is final may be kept for an hour; others must be revalidated', 'string'),
}

const NOT_MODIFIED = { description: 'Not modified: the client has the body with this ETag' }

export const headers = {
  ...CACHE_HEADERS,
  'X-As-Of': header(
    'Chain time of the response, epoch seconds; for several chains the lowest, then each by name',
    'string',
  ),
  'X-CU-Cost': header('Cost of this request in credit units', 'integer'),
  'X-CU-Remaining': header('Credit units left this month, for keys with a quota', 'integer'),
  'X-Reason': header('Why data is empty or null', 'string'),
  RateLimit: header('Requests left in this second, for keys with a rate limit', 'string'),
  'RateLimit-Policy': header('Rate limit of this key', 'string'),
  'Retry-After': header('Seconds to wait before a retry', 'integer'),
}

const SAME_AS_DETAIL: JsonSchema = { type: 'string', description: 'Same as detail' }

export const PROBLEM_SCHEMA: JsonSchema = {
  description: 'Error response (RFC 9457)',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'msg', 'message'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What failed and how to fix it' },
    code: { type: 'string', description: 'Machine-readable error code' },
    ...{ msg: SAME_AS_DETAIL, message: SAME_AS_DETAIL },
    reset_at: {
      type: 'integer',
      description: 'With cu_exhausted: when the quota resets, epoch seconds',
    },
    budget: { type: 'string', description: 'With 429: the exceeded budget, as in the configuration of plans' },
    limit: { type: 'number', description: 'With 429: its limit' },
    plan: { type: 'string', description: 'With 429: the plan of the key' },
  },
}

export const ERROR_STATUSES = ['400', '401', '403', '429', '500', '503'] as const

const MEANINGS: Record<(typeof ERROR_STATUSES)[number], string> = {
  400: 'Bad request; see detail',
  401: 'API key missing or invalid',
  403: 'API key expired, or its plan has no SQL (sql_not_in_plan)',
  429: 'Over a budget of the key: requests per second (rate_limited), credit units (cu_exhausted), history or SQL queries at once (too_many_queries)',
  500: 'Server error',
  503: 'Store unavailable (store_away), too many queries (store_busy) or server starting (starting)',
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
