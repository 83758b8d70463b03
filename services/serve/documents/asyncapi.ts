/** The WebSocket API as AsyncAPI 3.0, generated from the declared topics. Pure. */
import type { Notice } from '../push/notices.js'
import type { Topic } from '../push/topic.js'
import { type Document, INTERFACE_VERSION, LICENSE } from './openapi.js'
import { type Exchange, exchangesOf, type Message } from './ws-messages.js'

export type AsyncApiOptions = {
  topics: readonly Topic[]
  notices: readonly Notice[]
  wsPort: number
}

const DESCRIPTION = [
  'JSON-RPC 2.0 over one WebSocket. `subscribe` takes a topic and its parameters; pushes carry the id of that request.',
  'Send the API key in the `X-API-KEY` header of the upgrade request. Clients that cannot set headers (browsers) get a one-time token and a URL (`?token=`) from `POST /v2/ws/token`.',
  'Requests may be batched. Pushes are identified by `result.topic`.',
].join('\n\n')

export function asyncApiDocument({ topics, notices, wsPort }: AsyncApiOptions): Document {
  const exchanges = exchangesOf(topics, notices)
  const messages = [...new Set(exchanges.flatMap(({ message, replies }) => [message, ...replies]))]
  return {
    asyncapi: '3.0.0',
    info: { title: 'Dextape', version: INTERFACE_VERSION, description: DESCRIPTION, license: LICENSE },
    defaultContentType: 'application/json',
    servers: { websocket: server(wsPort) },
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

function server(wsPort: number): Document {
  return {
    host: '{host}:{port}',
    protocol: 'ws',
    description: 'Separate port, any path',
    variables: { host: { default: 'localhost' }, port: { default: String(wsPort) } },
    security: [{ $ref: '#/components/securitySchemes/apiKey' }, { $ref: '#/components/securitySchemes/token' }],
  }
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
