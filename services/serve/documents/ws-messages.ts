/** What goes over the socket: requests with their replies, and what the server sends by itself. */
import type { Notice } from '../push/notices.js'
import type { Topic } from '../push/topic.js'
import { type JsonSchema, jsonSchema } from './json-schema.js'
import {
  ackPayload,
  errorPayload,
  pushPayload,
  refusalPayload,
  requestPayload,
  subscribeParams,
} from './rpc-payloads.js'

export type Message = { name: string; title: string; summary?: string; payload: JsonSchema }

/** A message and what answers it; one that nothing answers is the server's own. */
export type Exchange = { message: Message; replies: readonly Message[] }

const acknowledged: Message = { name: 'acknowledged', title: 'Done', payload: ackPayload() }
const error: Message = { name: 'error', title: 'An error', payload: errorPayload() }
const pong: Message = { name: 'pong', title: 'Pong', payload: ackPayload({ const: 'pong' }) }

export function exchangesOf(topics: readonly Topic[], notices: readonly Notice[]): Exchange[] {
  return [...topics.flatMap(ofTopic), ...ALWAYS, ...notices.map(ofNotice), REFUSED]
}

function ofTopic(topic: Topic): Exchange[] {
  const { name, summary } = topic
  const params = subscribeParams(topic)
  return [
    asked({
      name: `subscribe_${name}`,
      title: `Subscribe to ${name}`,
      summary,
      payload: requestPayload('subscribe', params),
    }),
    asked({
      name: `unsubscribe_${name}`,
      title: `Unsubscribe from ${name}`,
      payload: requestPayload('unsubscribe', params),
    }),
    sent({
      name: `push_${name}`,
      title: `Push of ${name}`,
      summary,
      payload: pushPayload(jsonSchema(topic.result, 'draft-7')),
    }),
  ]
}

const ALWAYS: readonly Exchange[] = [
  asked({
    name: 'unsubscribe_all',
    title: 'Unsubscribe from everything',
    payload: requestPayload('unsubscribe', { type: 'array', maxItems: 0 }),
  }),
  { message: { name: 'ping', title: 'Ping', payload: requestPayload('ping') }, replies: [pong] },
]

function ofNotice({ name, summary, result }: Notice): Exchange {
  const payload = pushPayload(jsonSchema(result, 'draft-7'))
  return sent({ name: `notice_${name}`, title: `Notice: ${name}`, summary, payload })
}

const REFUSED = sent({
  name: 'refused',
  title: 'Refused',
  summary: 'Sent once after the upgrade when the key is missing or not good; then the socket closes with 1008.',
  payload: refusalPayload(),
})

function asked(message: Message): Exchange {
  return { message, replies: [acknowledged, error] }
}

function sent(message: Message): Exchange {
  return { message, replies: [] }
}
