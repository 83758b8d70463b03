/** The interface's document as data: every table, and the sentences that are lists. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { type Field, type Fields, listFields, tableFields } from './fields.js'
import { type Input, inputsOf } from './inputs.js'
import { between, codesOf, splitOutside, type Table, tablesOf } from './markdown.js'

export type SpecOperation = {
  /** `GET /v2/tokens/{token-id}`. */
  name: string
  method: 'GET' | 'POST'
  path: string
  costCu: number
  inputs: Input[]
  success: string
  body: 'object' | 'array' | 'TokenApiResponse'
}

export type TopicParams =
  | { form: 'values'; names: string[] }
  | { form: 'arrays'; names: string[] }
  | { form: 'ids'; names: string[] }

export type SpecTopic = { topic: string; about: string; params: TopicParams }

export type SpecEvent = { message: string; topic: string | undefined; trigger: string; payload: string }

export type SpecLimit = {
  operation: string
  costCu: number
  /** By input: `limit default 100, max 300`. */
  inputs: { name: string; default?: string; max?: number }[]
  topPairs: number | undefined
}

export type Spec = {
  text: string
  operations: SpecOperation[]
  records: Record<RecordName, Fields>
  profile: Fields
  switchData: Fields
  envelope: Fields
  topics: SpecTopic[]
  intervals: string[]
  events: SpecEvent[]
  statuses: { status: number; meaning: string }[]
  limits: SpecLimit[]
  version: string
  prefix: string
}

const TITLES = {
  TokenApiResponse: 'TokenApiResponse (returned by token detail)',
  TokenInfo: 'TokenInfo',
  TokenPair: 'TokenPair',
  TokenHolder: 'TokenHolder (element of the top-holders array; all fields required)',
  MainToken: 'MainToken (element of the main-tokens array)',
  Trending: 'Trending tokens response',
  Swap: 'Swap transaction (WebSocket `tx` payload, field `tx`)',
  Kline: 'Kline push (`result` of topic `kline`)',
  NewMainPair: 'Main-pair switch message (delivered on a kline subscription)',
  PriceEntry: 'Price entry (element of `result.prices`)',
} as const
export type RecordName = keyof typeof TITLES

const SPEC = join(repositoryRoot(), '../shared/reference/interface-spec.md')

/** Absent on somebody's own machine. */
export const hasSpec = existsSync(SPEC)

export const readSpec = (): Spec => parseSpec(readFileSync(SPEC, 'utf8'))

export function parseSpec(text: string): Spec {
  const tables = tablesOf(text)
  const table = (section: string, first?: string): Table => {
    const found = tables.find((one) => one.section === section && (first === undefined || one.header[0] === first))
    if (found === undefined) throw new Error(`the document has no table under "${section}"`)
    return found
  }
  const records = Object.entries(TITLES).map(([name, title]) => [name, tableFields(table(title))])
  return {
    text,
    operations: table('REST').rows.map(operationOf),
    records: Object.fromEntries(records) as Record<RecordName, Field[]>,
    profile: listFields(between(text, 'The decoded profile object carries: ', '.\n')),
    switchData: listFields(between(text, '`result.data` has: ', '. `result.status`')),
    envelope: listFields(between(text, 'have this envelope: ', '. The main-pair')),
    topics: table('WebSocket (JSON-RPC 2.0)').rows.map(topicOf),
    intervals: codesOf(between(text, 'Allowed interval values: ', '.\n')),
    events: table('Events').rows.map(eventOf),
    statuses: table('Errors').rows.map(([status, meaning = '']) => ({ status: Number(status), meaning })),
    limits: table('Limits').rows.map(limitOf),
    version: between(text, 'carries version ', '.\n'),
    prefix: between(text, 'All REST paths start with the prefix `', '`'),
  }
}

function operationOf([, route = '', cost = '', inputs = '', success = '']: string[]): SpecOperation {
  const [, method, path = ''] = /^(GET|POST) `(.*)`$/.exec(route) ?? []
  const body = success.startsWith('Array') ? 'array' : success.startsWith('Token') ? 'TokenApiResponse' : 'object'
  return {
    ...{
      name: `${method} ${path}`,
      method: method === 'POST' ? 'POST' : 'GET',
      path,
      costCu: Number.parseInt(cost, 10),
    },
    ...{ inputs: inputsOf(inputs), success, body },
  }
}

function topicOf([subscription = '', params = '']: string[]): SpecTopic {
  const [, topic = '', about = ''] = /^`(\w+)` \((.*)\)$/.exec(subscription) ?? []
  const listed = /each `\[(.*)\]`/.exec(params)?.[1]
  if (listed !== undefined) return { topic, about, params: { form: 'arrays', names: listed.split(', ') } }
  const ids = /one array of strings, each a (\S+) or a ([\w-]+)/.exec(params)
  if (ids !== null) return { topic, about, params: { form: 'ids', names: ids.slice(1) } }
  const names = splitOutside(params, ',').map((one) => one.replace(/ \(string\)$/, ''))
  return { topic, about, params: { form: 'values', names } }
}

function eventOf([message = '', topic = '', trigger = '', payload = '']: string[]): SpecEvent {
  return { message, topic: topic.startsWith('none') ? undefined : codesOf(topic)[0], trigger, payload }
}

function limitOf([operation = '', limit = '']: string[]): SpecLimit {
  const parts = limit.split('; ')
  const inputs = parts.flatMap((part) => {
    const [, name, rules = ''] = /^(\w+) ((?:default|at most|max) .*)$/.exec(part) ?? []
    if (name === undefined) return []
    const [, standard] = /default (\d+)/.exec(rules) ?? []
    const [, max] = /(?:max|at most) (\d+)/.exec(rules) ?? []
    return [
      {
        name,
        ...(standard === undefined ? {} : { default: standard }),
        ...(max === undefined ? {} : { max: Number(max) }),
      },
    ]
  })
  const top = /returns the top (\d+) pairs/.exec(limit)?.[1]
  return {
    operation: operation.replaceAll('`', ''),
    costCu: Number(/cost (\d+) CU/.exec(limit)?.[1]),
    inputs,
    topPairs: top === undefined ? undefined : Number(top),
  }
}
