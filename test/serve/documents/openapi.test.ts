import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { DOCUMENTED } from '../../../services/serve/documents/build-documents.js'
import { openApiDocument } from '../../../services/serve/documents/openapi.js'
import { operation } from '../../../services/serve/rest/operation.js'
import { brokenReferences, schemasIn, unsupportedKeywords } from './document-rules.js'

const bare = operation({
  id: 'listThings',
  method: 'GET',
  path: '/v2/things/{thing-id}',
  summary: 'Things of a kind',
  costCu: 7,
  envelope: false,
  params: Type.Object({ 'thing-id': Type.String({ description: '<address>-<chain>' }) }),
  query: Type.Object({
    chain: Type.String(),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 300, default: 100, description: 'How many' })),
    orderby: Type.Optional(Type.Union([Type.Literal('tvl'), Type.Literal('fdv')], { default: 'tvl' })),
  }),
  data: Type.Array(Type.Object({ name: Type.String(), note: Type.Optional(Type.Boolean()) })),
  handle: () => ({ data: [], chains: [] }),
})

const wrapped = operation({
  id: 'priceThings',
  method: 'POST',
  path: '/v2/things/price',
  summary: 'Prices of things',
  costCu: 100,
  envelope: true,
  params: Type.Object({}),
  query: Type.Object({}),
  body: Type.Object({
    ids: Type.Array(Type.String(), { minItems: 1 }),
    min: Type.Optional(Type.Number({ default: 0 })),
  }),
  data: Type.Record(Type.String(), Type.Object({ price: Type.Unsafe({ type: ['string', 'null'] }) })),
  nullable: true,
  handle: () => ({ data: null, chains: [] }),
})

const documentOf = (given: Partial<Parameters<typeof openApiDocument>[0]> = {}) =>
  openApiDocument({ operations: [bare, wrapped], envelope: 'spec', publicUrls: [], ...given }) as {
    servers: unknown
    tags: unknown
    security: unknown
    paths: Record<string, Record<string, Record<string, unknown>>>
  }

const answerOf = (document: ReturnType<typeof documentOf>, path: string, method: string): unknown => {
  const { responses } = document.paths[path]?.[method] ?? {}
  const { content } = (responses as Record<string, { content: Record<string, { schema: unknown }> }>)['200'] ?? {}
  return content?.['application/json']?.schema
}

describe('an operation in the OpenAPI document', () => {
  it('declares its inputs, cost and errors', () => {
    const { responses, ...rest } = documentOf().paths['/v2/things/{thing-id}']?.get ?? {}
    expect(rest).toEqual({
      operationId: 'listThings',
      tags: ['things'],
      summary: 'Things of a kind',
      'x-cu-cost': 7,
      parameters: [
        { name: 'thing-id', in: 'path', required: true, description: '<address>-<chain>', schema: { type: 'string' } },
        { name: 'chain', in: 'query', required: true, schema: { type: 'string' } },
        {
          name: 'limit',
          in: 'query',
          required: false,
          description: 'How many',
          schema: { type: 'integer', minimum: 1, maximum: 300, default: 100 },
        },
        {
          name: 'orderby',
          in: 'query',
          required: false,
          schema: { type: 'string', enum: ['tvl', 'fdv'], default: 'tvl' },
        },
      ],
    })
    expect(Object.keys(responses as object)).toEqual(['200', '304', '400', '401', '403', '429', '500', '503'])
  })

  it('declares a bare body, or an envelope when the server always wraps', () => {
    const items = {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, note: { type: 'boolean' } },
        required: ['name'],
      },
    }
    expect(answerOf(documentOf(), '/v2/things/{thing-id}', 'get')).toEqual(items)
    expect(answerOf(documentOf({ envelope: 'always' }), '/v2/things/{thing-id}', 'get')).toEqual({
      type: 'object',
      required: ['status', 'msg', 'data_type', 'data'],
      properties: {
        status: { type: 'integer' },
        msg: { type: 'string' },
        data_type: { type: 'integer' },
        data: items,
      },
    })
  })

  it('declares its request body, a record as answer, and null for no data', () => {
    const document = documentOf()
    expect(document.paths['/v2/things/price']?.post?.requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              ids: { type: 'array', items: { type: 'string' }, minItems: 1 },
              min: { type: 'number', default: 0 },
            },
            required: ['ids'],
          },
        },
      },
    })
    expect(answerOf(document, '/v2/things/price', 'post')).toMatchObject({
      properties: {
        data: {
          anyOf: [
            {
              type: 'object',
              additionalProperties: {
                type: 'object',
                properties: { price: { type: ['string', 'null'] } },
                required: ['price'],
              },
            },
            { type: 'null' },
          ],
        },
      },
    })
  })
})

describe('servers in the OpenAPI document', () => {
  it('default to the origin of the document and a placeholder for an equivalent host', () => {
    expect(documentOf().servers).toEqual([
      { url: '/', description: 'This server' },
      {
        url: '{alt_base_url}',
        description: 'An equivalent host',
        variables: {
          alt_base_url: { default: '/', description: 'URL of an equivalent host, if any' },
        },
      },
    ])
  })

  it('are the configured URLs', () => {
    expect(documentOf({ publicUrls: ['https://a.example', 'https://b.example'] }).servers).toEqual([
      { url: 'https://a.example', description: 'This server' },
      { url: 'https://b.example', description: 'An equivalent host' },
    ])
  })
})

describe('the served OpenAPI document', () => {
  const document = openApiDocument({ operations: DOCUMENTED, envelope: 'spec', publicUrls: [] })
  const operations = Object.values(document.paths as Record<string, Record<string, Record<string, unknown>>>).flatMap(
    (item) => Object.values(item),
  )

  it('has each operation once, with a unique id', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(DOCUMENTED.map(({ id }) => id).sort())
    expect(new Set(DOCUMENTED.map(({ id }) => id)).size).toBe(DOCUMENTED.length)
  })

  it('declares exactly the parameters named in its paths', () => {
    const declared = DOCUMENTED.map(({ path, params }) => [path, Object.keys(params.properties).sort()])
    const named = DOCUMENTED.map(({ path }) => [
      path,
      [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name).sort(),
    ])
    expect(declared).toEqual(named)
  })

  it('has no broken references', () => {
    expect(brokenReferences(document)).toEqual([])
  })

  it('uses only JSON Schema 2020-12, without internals of the declarations', () => {
    const schemas = schemasIn(document)
    expect(schemas.length).toBeGreaterThan(100)
    expect(unsupportedKeywords(schemas, '2020-12')).toEqual([])
  })
})
