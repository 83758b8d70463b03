/**
 * The operations and pushes of the interface as the clients need them: operations with their parameters, and named object
 * types. Read from the OpenAPI and AsyncAPI documents; schemas/client-typescript.ts and client-python.ts print them.
 */
import { DEFAULT_DOCUMENTS, documents } from '../services/serve/documents/build-documents.js'

export type Schema = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  description?: string
}

/** A type without names of a language. */
export type ClientType =
  | { kind: 'literal'; value: string | number | boolean }
  | { kind: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'unknown' | 'bytes' }
  | { kind: 'list'; of: ClientType }
  | { kind: 'map'; of: ClientType }
  | { kind: 'named'; name: string }
  | { kind: 'union'; of: ClientType[] }

export type Field = { name: string; type: ClientType; isRequired: boolean; description: string }
export type NamedType = { name: string; fields: Field[] }
export type ClientOperation = {
  id: string
  method: string
  /** With `{name}` for the parameters in it. */
  path: string
  summary: string
  /** Parameters of the path first; `-` in names is `_`, so that they are identifiers. */
  parameters: (Field & { in: 'path' | 'query' | 'body' })[]
  result: ClientType
}
export type ClientInterface = { operations: ClientOperation[]; types: NamedType[]; pushes: Record<string, ClientType> }

/** Names for what is not named by its place. */
const NAMES: Record<string, string> = {
  KlinesPairPointsItem: 'Candle',
  TxsSwapTxsItem: 'Swap',
  TxsLiqTxsItem: 'LiquidityEvent',
  SupportedChainsItem: 'Chain',
  TokensTop100Item: 'Holder',
  TxPushTx: 'PushedSwap',
  MultiTxPushTx: 'PushedTokenSwap',
  LiqPushTx: 'PushedLiquidityEvent',
  PricePushPricesItem: 'PushedPrice',
}

type Parameter = { name: string; in: 'path' | 'query'; required: boolean; description?: string; schema: Schema }
type Content = Record<string, { schema: Schema }>
type Operation = {
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: { 200: { content: Content } }
}
type Message = { payload: { properties: { result?: Schema } } }

export function clientInterface(): ClientInterface {
  const { openapi, asyncapi } = documents(DEFAULT_DOCUMENTS)
  const types = createTypes()
  const paths = openapi.paths as Record<string, Record<string, Operation>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(path, method, operation, types)),
  )
  const { messages } = asyncapi.components as { messages: Record<string, Message> }
  const pushes = Object.entries(messages).flatMap(([name, { payload }]): [string, ClientType][] => {
    const [, kind, topic = ''] = /^(push|notice)_(.+)$/.exec(name) ?? []
    const { result } = payload.properties
    if (kind === undefined || result === undefined) return []
    return [[topic, types.typeOf(result, `${pascal(topic)}${kind === 'push' ? 'Push' : 'Notice'}`)]]
  })
  return { operations, types: types.all, pushes: Object.fromEntries(pushes) }
}

type Types = ReturnType<typeof createTypes>

/** Equal objects have one name: that of the first place they occur. */
function createTypes() {
  const all: NamedType[] = []
  const nameByText = new Map<string, string>()

  function typeOf(schema: Schema, place: string): ClientType {
    if (schema.const !== undefined) return literal(schema.const)
    if (schema.enum !== undefined) return union(schema.enum.map(literal))
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return union(choices.map((one) => typeOf(one, place)))
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, place)))
    if (schema.type === 'array') return { kind: 'list', of: typeOf(schema.items ?? {}, `${place}Item`) }
    if (schema.type === 'object') return objectOf(schema, place)
    return { kind: PLAIN.find((kind) => kind === schema.type) ?? 'unknown' }
  }

  function objectOf(schema: Schema, place: string): ClientType {
    const { properties, required = [], additionalProperties: others } = schema
    if (properties === undefined) {
      return { kind: 'map', of: typeof others === 'object' ? typeOf(others, `${place}Item`) : { kind: 'unknown' } }
    }
    const text = JSON.stringify(schema)
    const known = nameByText.get(text)
    if (known !== undefined) return { kind: 'named', name: known }
    const name = NAMES[place] ?? place
    const fields = fieldsOf(properties, required, (field, one) => typeOf(one, `${name}${pascal(field)}`))
    nameByText.set(text, name)
    all.push({ name, fields })
    return { kind: 'named', name }
  }

  return { all, typeOf }
}

const PLAIN = ['string', 'number', 'integer', 'boolean', 'null'] as const

function fieldsOf(
  properties: Record<string, Schema>,
  required: readonly string[],
  typeOf: (name: string, schema: Schema) => ClientType,
): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(name, schema),
    isRequired: required.includes(name),
    description: schema.description ?? '',
  }))
}

function operationOf(path: string, method: string, operation: Operation, types: Types): ClientOperation {
  const { operationId: id, summary, parameters = [], requestBody, responses } = operation
  const name = pascal(id)
  // Clients read a page as JSON; `format` of a page is for tools that read files.
  const isPage = parameters.some((one) => one.name === 'format')
  const asked = parameters.filter((one) => one.name !== 'format')
  const inUrl = asked.map(({ name: field, in: place, required, description = '', schema }) => ({
    ...{ name: identifier(field), in: place, isRequired: required, description },
    type: types.typeOf(schema, `${name}${pascal(field)}`),
  }))
  const { properties = {}, required = [] } = requestBody?.content['application/json']?.schema ?? {}
  const inBody = fieldsOf(properties, required, (field, one) => types.typeOf(one, `${name}${pascal(field)}`))
  return {
    ...{ id, method: method.toUpperCase(), summary },
    path: path.replace(/\{([^}]+)\}/g, (_, field: string) => `{${identifier(field)}}`),
    parameters: [...inUrl, ...inBody.map((field) => ({ ...field, in: 'body' as const }))],
    result: resultOf(isPage ? jsonOnly(responses[200].content) : responses[200].content, name, types),
  }
}

const jsonOnly = (content: Content): Content =>
  Object.fromEntries(Object.entries(content).filter(([type]) => type === 'application/json'))

/** The `data` of an envelope; other formats than JSON are bytes. */
function resultOf(content: Content, name: string, types: Types): ClientType {
  const json = content['application/json']?.schema
  const data = json?.properties?.data_type === undefined ? json : json.properties.data
  const others = Object.keys(content).length > (json === undefined ? 0 : 1)
  return union([...(data === undefined ? [] : [types.typeOf(data, name)]), ...(others ? [BYTES] : [])])
}

const BYTES: ClientType = { kind: 'bytes' }

function literal(value: unknown): ClientType {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return { kind: 'literal', value }
  return value === null ? { kind: 'null' } : { kind: 'unknown' }
}

function union(of: ClientType[]): ClientType {
  const [first, ...others] = [...new Map(of.map((type) => [JSON.stringify(type), type])).values()]
  if (first === undefined) return { kind: 'unknown' }
  return others.length === 0 ? first : { kind: 'union', of: [first, ...others] }
}

const identifier = (name: string): string => name.replaceAll('-', '_')

const pascal = (name: string): string =>
  name.replace(/(?:^|[_-])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()).replace(/^[a-z]/, upper)
const upper = (letter: string): string => letter.toUpperCase()
