/** The WebSocket interface as AsyncAPI 3.0, made from the declared topics. Pure: declarations in, document out. */
import type { Notice } from '../push/notices.js'
import type { Topic } from '../push/topic.js'
import { INTERFACE_VERSION, LICENSE } from './interface.js'
import { type JsonSchema, jsonSchema } from './json-schema.js'
import type { Document } from './openapi.js'
import {
  ackPayload,
  errorPayload,
  pushPayload,
  refusalPayload,
  requestPayload,
  subscribeParams,
} from './rpc-payloads.js'

export type AsyncApiOptions = {
  topics: readonly Topic[]
  notices: readonly Notice[]
  wsPort: number
}

type Message = { name: string; title: string; summary?: string; payload: JsonSchema }

const DESCRIPTION = [
  'JSON-RPC 2.0 over one WebSocket. `subscribe` takes a topic and its parameters; everything that happens on it is then pushed under the id of that request.',
  'The key is the header `X-API-KEY` of the upgrade. Where headers cannot be set (browsers), `POST /v2/ws/token` gives a short-lived token and the address to use it with (`?token=`).',
  'Requests may come in batches. Programs tell pushes apart by `result.topic`.',
].join('\n\n')

export function asyncApiDocument({ topics, notices, wsPort }: AsyncApiOptions): Document {
  const { messages, operations } = collect(topics, notices)
  return {
    asyncapi: '3.0.0',
    info: { title: 'Dextape', version: INTERFACE_VERSION, description: DESCRIPTION, license: LICENSE },
    defaultContentType: 'application/json',
    servers: { websocket: server(wsPort) },
    channels: {
      socket: {
        address: '/',
        title: 'The socket',
        description: 'Requests, replies and pushes of all subscriptions share it.',
        servers: [{ $ref: '#/servers/websocket' }],
        messages: Object.fromEntries(messages.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations,
    components: {
      messages: Object.fromEntries(messages.map((message) => [message.name, message])),
      securitySchemes: {
        apiKey: { type: 'httpApiKey', in: 'header', name: 'X-API-KEY' },
        token: { type: 'httpApiKey', in: 'query', name: 'token', description: 'From POST /v2/ws/token' },
      },
    },
  }
}

function server(wsPort: number): Document {
  return {
    host: '{host}:{port}',
    protocol: 'ws',
    description: 'A port of its own, any path',
    variables: { host: { default: 'localhost' }, port: { default: String(wsPort) } },
    security: [{ $ref: '#/components/securitySchemes/apiKey' }, { $ref: '#/components/securitySchemes/token' }],
  }
}

/** What the server takes (`receive`) and what it pushes (`send`). */
function collect(topics: readonly Topic[], notices: readonly Notice[]) {
  const acknowledged: Message = {
    name: 'acknowledged',
    title: 'Done',
    payload: ackPayload(),
  }
  const refused: Message = { name: 'error', title: 'An error', payload: errorPayload() }
  const messages: Message[] = [acknowledged, refused]
  const operations: Record<string, Document> = {}

  function receive(id: string, message: Message, reply: readonly Message[]): void {
    messages.push(message)
    operations[id] = {
      action: 'receive',
      title: message.title,
      ...summaryOf(message),
      ...onSocket([message]),
      reply: onSocket(reply),
    }
  }
  function send(id: string, message: Message): void {
    messages.push(message)
    operations[id] = { action: 'send', title: message.title, ...summaryOf(message), ...onSocket([message]) }
  }

  for (const topic of topics) {
    const params = subscribeParams(topic)
    const { summary } = topic
    receive(
      `subscribe_${topic.name}`,
      {
        name: `subscribe_${topic.name}`,
        title: `Subscribe to ${topic.name}`,
        summary,
        payload: requestPayload('subscribe', params),
      },
      [acknowledged, refused],
    )
    receive(
      `unsubscribe_${topic.name}`,
      {
        name: `unsubscribe_${topic.name}`,
        title: `Unsubscribe from ${topic.name}`,
        payload: requestPayload('unsubscribe', params),
      },
      [acknowledged, refused],
    )
    send(`push_${topic.name}`, {
      name: `push_${topic.name}`,
      title: `Push of ${topic.name}`,
      summary,
      payload: pushPayload(jsonSchema(topic.result, 'draft-7')),
    })
  }
  receive(
    'unsubscribe_all',
    {
      name: 'unsubscribe_all',
      title: 'Unsubscribe from everything',
      payload: requestPayload('unsubscribe', { type: 'array', maxItems: 0 }),
    },
    [acknowledged, refused],
  )
  const pong: Message = { name: 'pong', title: 'Pong', payload: ackPayload({ const: 'pong' }) }
  messages.push(pong)
  receive('ping', { name: 'ping', title: 'Ping', payload: requestPayload('ping') }, [pong])
  for (const { name, summary, result } of notices) {
    send(`notice_${name}`, {
      name: `notice_${name}`,
      title: `Notice: ${name}`,
      summary,
      payload: pushPayload(jsonSchema(result, 'draft-7')),
    })
  }
  send('refuse', {
    name: 'refused',
    title: 'Refused',
    summary: 'Sent once after the upgrade when the key is missing or not good; then the socket closes with 1008.',
    payload: refusalPayload(),
  })
  return { messages, operations }
}

function summaryOf({ summary }: Message): { summary?: string } {
  return summary === undefined ? {} : { summary }
}

function onSocket(messages: readonly Message[]): Document {
  return {
    channel: { $ref: '#/channels/socket' },
    messages: messages.map(({ name }) => ({ $ref: `#/channels/socket/messages/${name}` })),
  }
}
