/** The WebSocket API as AsyncAPI 3.0, generated from the declared topics. Pure. */
import type { Config } from '../../core/config/config.js'
import type { Notice } from '../push/notices.js'
import { RPC } from '../push/rpc.js'
import type { Topic } from '../push/topic.js'
import { MAX_UNKNOWN } from '../push/unknown-ids.js'
import { type JsonSchema, jsonSchema } from './json-schema.js'
import { type Document, INTERFACE_VERSION, LICENSE } from './openapi.js'

export type AsyncApiOptions = {
  topics: readonly Topic[]
  notices: readonly Notice[]
} & Pick<Config, 'publicWsUrl' | 'wsPort'>

const DESCRIPTION = [
  'JSON-RPC 2.0 over one WebSocket. `subscribe` takes a topic and its parameters; pushes carry the id of that request.',
  'Send the API key in the `X-API-KEY` header of the upgrade request. Clients that cannot set headers (browsers) get a one-time token and a URL (`?token=`) from `POST /v2/ws/token`.',
  'Requests may be batched. Pushes are identified by `result.topic`.',
].join('\n\n')

export function asyncApiDocument({ topics, notices, publicWsUrl, wsPort }: AsyncApiOptions): Document {
  const exchanges = exchangesOf(topics, notices)
  const messages = [...new Set(exchanges.flatMap(({ message, replies }) => [message, ...replies]))]
  return {
    asyncapi: '3.0.0',
    info: { title: 'Dextape', version: INTERFACE_VERSION, description: DESCRIPTION, license: LICENSE },
    defaultContentType: 'application/json',
    servers: { websocket: publicWsUrl.kind === 'url' ? publicServer(new URL(publicWsUrl.url)) : server(wsPort) },
    channels: {
      socket: {
        address: '/',
        title: 'WebSocket',
        description: 'Carries requests, replies and pushes of all subscriptions.',
        servers: [{ $ref: '#/servers/websocket' }],
        messages: Object.fromEntries(messages.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations: Object.fromEntries(exchanges.map((exchange) => [exchange.message.name, operationOf(exchange)])),
    components: {
      messages: Object.fromEntries(messages.map((message) => [message.name, message])),
      securitySchemes: {
        apiKey: { type: 'httpApiKey', in: 'header', name: 'X-API-KEY' },
        token: { type: 'httpApiKey', in: 'query', name: 'token', description: 'One-time token from POST /v2/ws/token' },
      },
    },
  }
}

const SECURITY = [{ $ref: '#/components/securitySchemes/apiKey' }, { $ref: '#/components/securitySchemes/token' }]

function server(wsPort: number): Document {
  return {
    host: '{host}:{port}',
    protocol: 'ws',
    description: 'Separate port, any path',
    variables: { host: { default: 'localhost' }, port: { default: String(wsPort) } },
    security: SECURITY,
  }
}

/** The address that the operator has configured. */
function publicServer({ host, protocol, pathname }: URL): Document {
  const path = pathname === '/' ? {} : { pathname }
  return { host, protocol: protocol.slice(0, -1), ...path, security: SECURITY }
}

/** From the server's perspective: it receives requests and sends the rest. */
function operationOf({ message, replies }: Exchange): Document {
  const { title, summary } = message
  return {
    action: replies.length === 0 ? 'send' : 'receive',
    title,
    ...(summary === undefined ? {} : { summary }),
    ...onSocket([message]),
    ...(replies.length === 0 ? {} : { reply: onSocket(replies) }),
  }
}

function onSocket(messages: readonly Message[]): Document {
  return {
    channel: { $ref: '#/channels/socket' },
    messages: messages.map(({ name }) => ({ $ref: `#/channels/socket/messages/${name}` })),
  }
}

type Message = { name: string; title: string; summary?: string; payload: JsonSchema }

/** A message and its replies; without replies it is sent by the server. */
type Exchange = { message: Message; replies: readonly Message[] }

const id: JsonSchema = { type: ['integer', 'string', 'null'] }
const jsonrpc: JsonSchema = { const: '2.0' }

function requestPayload(method: string, params?: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['jsonrpc', 'method', ...(params === undefined ? [] : ['params'])],
    properties: { jsonrpc, method: { const: method }, ...(params === undefined ? {} : { params }), id },
  }
}

/** The optional last param of subscribe. */
const OPTIONS: JsonSchema = {
  type: 'object',
  description: 'Options',
  properties: {
    on_slow: {
      type: 'string',
      enum: ['conflate', 'disconnect'],
      description: 'conflate: merge pushes for a slow client; disconnect: close its socket',
    },
    since: {
      description: 'Cursor of the last push received, or one per chain: replays later pushes',
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    },
    snapshot: { type: 'boolean', description: 'Push the current state first' },
  },
}

/** The topic's name, its declared params, and options. */
function subscribeParams(topic: Topic): JsonSchema {
  const name: JsonSchema = { const: topic.name }
  const declared = jsonSchema(topic.params, 'draft-7')
  const { items } = declared
  if (Array.isArray(items)) {
    return { type: 'array', minItems: items.length + 1, items: [name, ...items, OPTIONS], additionalItems: false }
  }
  const more = items === undefined ? {} : { additionalItems: { anyOf: [items, OPTIONS] } }
  return { type: 'array', minItems: Number(declared.minItems ?? 0) + 1, items: [name], ...more }
}

function ackPayload(result?: JsonSchema): JsonSchema {
  const acknowledgement: JsonSchema = {
    type: 'object',
    required: ['status'],
    properties: {
      status: { const: 'ok' },
      cursor: {
        type: 'array',
        items: { type: 'string' },
        description: 'Current cursor of each subscribed chain, <epoch>:<chain>:<seq>:<n>',
      },
      unknown: {
        type: 'array',
        items: { type: 'string' },
        maxItems: MAX_UNKNOWN,
        description: 'Subscribed ids that are not known yet; absent if all are known',
      },
      unknown_count: { type: 'integer', description: 'Number of ids that are not known yet' },
      removed: { type: 'integer', description: 'Number of removed subscriptions' },
    },
  }
  return {
    type: 'object',
    required: ['jsonrpc', 'id', 'result'],
    properties: { jsonrpc, id, result: result ?? acknowledgement },
  }
}

function errorPayload(): JsonSchema {
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'integer', enum: Object.values(RPC) },
      message: { type: 'string' },
      data: {
        type: 'object',
        description: 'Over a budget: which one, its limit and the plan; plan null: the budget of all keys',
        properties: { budget: { type: 'string' }, limit: { type: 'number' }, plan: { type: ['string', 'null'] } },
      },
    },
  }
  return { type: 'object', required: ['jsonrpc', 'id', 'error'], properties: { jsonrpc, id, error } }
}

function refusalPayload(): JsonSchema {
  const error = {
    type: 'object',
    properties: { code: { enum: [-1, RPC.limitExceeded] }, message: { type: 'string' }, data: { type: 'object' } },
  }
  return { type: 'object', required: ['error'], properties: { error } }
}

function pushPayload(result: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['jsonrpc', 'result'],
    properties: {
      id: { ...id, description: 'Id of the subscribe request' },
      jsonrpc,
      result,
      sent_time: { type: 'integer', description: 'Epoch milliseconds' },
    },
  }
}

const acknowledged: Message = { name: 'acknowledged', title: 'Acknowledged', payload: ackPayload() }
const error: Message = { name: 'error', title: 'Error', payload: errorPayload() }
const pong: Message = { name: 'pong', title: 'Pong', payload: ackPayload({ const: 'pong' }) }

function exchangesOf(topics: readonly Topic[], notices: readonly Notice[]): Exchange[] {
  return [...topics.flatMap(ofTopic), ...ALWAYS, ...notices.map(ofNotice), REFUSED]
}

function ofTopic(topic: Topic): Exchange[] {
  const { name, summary } = topic
  const params = subscribeParams(topic)
  return [
    request({
      name: `subscribe_${name}`,
      title: `Subscribe to ${name}`,
      summary,
      payload: requestPayload('subscribe', params),
    }),
    request({
      name: `unsubscribe_${name}`,
      title: `Unsubscribe from ${name}`,
      payload: requestPayload('unsubscribe', params),
    }),
    serverMessage({
      name: `push_${name}`,
      title: `Push of ${name}`,
      summary,
      payload: pushPayload(jsonSchema(topic.result, 'draft-7')),
    }),
  ]
}

const ALWAYS: readonly Exchange[] = [
  request({
    name: 'unsubscribe_all',
    title: 'Unsubscribe from everything',
    payload: requestPayload('unsubscribe', { type: 'array', maxItems: 0 }),
  }),
  { message: { name: 'ping', title: 'Ping', payload: requestPayload('ping') }, replies: [pong] },
]

function ofNotice({ name, summary, result }: Notice): Exchange {
  const payload = pushPayload(jsonSchema(result, 'draft-7'))
  return serverMessage({ name: `notice_${name}`, title: `Notice: ${name}`, summary, payload })
}

const REFUSED = serverMessage({
  name: 'refused',
  title: 'Refused',
  summary:
    'Sent after the upgrade if the API key is missing or invalid (-1) or has too many sockets (-32005); the socket then closes with code 1008.',
  payload: refusalPayload(),
})

function request(message: Message): Exchange {
  return { message, replies: [acknowledged, error] }
}

function serverMessage(message: Message): Exchange {
  return { message, replies: [] }
}
