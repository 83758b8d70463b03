import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { asyncApiDocument } from '../../../services/serve/documents/asyncapi.js'
import { DEFAULT_DOCUMENTS, documents } from '../../../services/serve/documents/build-documents.js'
import { NOTICES } from '../../../services/serve/push/notices.js'
import type { Topic } from '../../../services/serve/push/topic.js'
import { TOPICS } from '../../../services/serve/push/topics/index.js'
import { brokenReferences, schemasIn, unsupportedKeywords } from './document-rules.js'

const topic: Topic = {
  name: 'weather',
  summary: 'Weather of a place',
  params: Type.Tuple([Type.String({ description: 'place' }), Type.String({ description: 'country' })]),
  result: Type.Object({ topic: Type.Literal('weather'), rain: Type.String() }),
  onSlow: 'conflate',
  parse: () => ({ canonical: '', channels: [], chains: [], refills: () => [], snapshot: () => [] }),
}
const several: Topic = {
  ...topic,
  name: 'multi_weather',
  params: Type.Array(Type.Tuple([Type.String(), Type.String()]), { minItems: 1 }),
}
const notice = { name: 'storm', summary: 'A storm', result: Type.Object({ topic: Type.Literal('storm') }) }

type Made = {
  servers: Record<string, unknown>
  operations: Record<string, Record<string, unknown>>
  components: { messages: Record<string, { payload: { properties: Record<string, unknown> } }> }
}
const given = { topics: [topic, several], notices: [notice], wsPort: 9 }
const made = asyncApiDocument({ ...given, publicWsUrl: { kind: 'none' } }) as unknown as Made
const paramsOf = (message: string) => made.components.messages[message]?.payload.properties.params

describe('a topic in the AsyncAPI document', () => {
  it('declares its name, params, options, acknowledgement and error', () => {
    expect(paramsOf('subscribe_weather')).toMatchObject({
      type: 'array',
      minItems: 3,
      items: [
        { const: 'weather' },
        { type: 'string', description: 'place' },
        { type: 'string', description: 'country' },
        { type: 'object', description: 'Options' },
      ],
      additionalItems: false,
    })
    expect(made.operations.subscribe_weather).toEqual({
      action: 'receive',
      title: 'Subscribe to weather',
      summary: 'Weather of a place',
      channel: { $ref: '#/channels/socket' },
      messages: [{ $ref: '#/channels/socket/messages/subscribe_weather' }],
      reply: {
        channel: { $ref: '#/channels/socket' },
        messages: [{ $ref: '#/channels/socket/messages/acknowledged' }, { $ref: '#/channels/socket/messages/error' }],
      },
    })
  })

  it('accepts any number of params after its name where it is variadic', () => {
    expect(paramsOf('subscribe_multi_weather')).toMatchObject({
      type: 'array',
      minItems: 2,
      items: [{ const: 'multi_weather' }],
      additionalItems: { anyOf: [{ type: 'array', minItems: 2, maxItems: 2 }, { description: 'Options' }] },
    })
  })

  it('declares the push envelope', () => {
    expect(made.components.messages.push_weather?.payload).toEqual({
      type: 'object',
      required: ['jsonrpc', 'result'],
      properties: {
        id: { type: ['integer', 'string', 'null'], description: 'Id of the subscribe request' },
        jsonrpc: { const: '2.0' },
        result: {
          type: 'object',
          required: ['topic', 'rain'],
          properties: { topic: { const: 'weather', type: 'string' }, rain: { type: 'string' } },
        },
        sent_time: { type: 'integer', description: 'Epoch milliseconds' },
      },
    })
  })

  it('is listed with pings and Dextape notices', () => {
    expect(Object.keys(made.operations)).toEqual([
      ...['subscribe_weather', 'unsubscribe_weather', 'push_weather'],
      ...['subscribe_multi_weather', 'unsubscribe_multi_weather', 'push_multi_weather'],
      ...['unsubscribe_all', 'ping', 'notice_storm', 'refused'],
    ])
  })
})

it('names the public address of the WebSocket server where one is configured', () => {
  const serverAt = (url: string) => {
    const { servers } = asyncApiDocument({ ...given, publicWsUrl: { kind: 'url', url } }) as unknown as Made
    return servers.websocket
  }
  expect(serverAt('wss://dex.example')).toMatchObject({ host: 'dex.example', protocol: 'wss' })
  expect(serverAt('ws://dex.example:9443/push')).toMatchObject({
    ...{ host: 'dex.example:9443', protocol: 'ws', pathname: '/push' },
  })
  expect(made.servers.websocket).toMatchObject({ host: '{host}:{port}', variables: { port: { default: '9' } } })
})

describe('the served AsyncAPI document', () => {
  const { asyncapi } = documents(DEFAULT_DOCUMENTS)
  const { operations } = asyncapi as unknown as Made

  it('has every topic', () => {
    const pushed = Object.keys(operations).filter((name) => name.startsWith('push_'))
    expect(pushed).toEqual([...TOPICS.keys()].map((name) => `push_${name}`))
  })

  it('has every notice', () => {
    const notices = Object.keys(operations).filter((name) => name.startsWith('notice_'))
    expect(notices).toEqual(NOTICES.map(({ name }) => `notice_${name}`))
  })

  it('has no broken references and uses only JSON Schema draft 7', () => {
    expect(brokenReferences(asyncapi)).toEqual([])
    expect(unsupportedKeywords(schemasIn(asyncapi), 'draft-7')).toEqual([])
  })
})
