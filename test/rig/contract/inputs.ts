/** What an operation takes, from the sentence the Endpoints table has for it. */
import { codesOf, splitOutside } from './markdown.js'

export type Input = {
  place: 'path' | 'query' | 'body'
  name: string
  type: 'string' | 'integer' | 'array'
  required: boolean
  default?: string
  /** Of an integer its highest value, of an array the most items. */
  max?: number
  values?: string[]
  examples?: string[]
  /** What a string, or each item, must be. */
  form?: 'token-id' | 'pair-id'
  /** 0 switches a threshold off. */
  zeroIsNone: boolean
}

const PLACES = { Path: 'path', Query: 'query', query: 'query', 'JSON body (required)': 'body' } as const

/** `Path: token-id; query: limit (integer, optional, default 100, max 100)`. */
export function inputsOf(cell: string): Input[] {
  let place: Input['place'] | undefined
  return splitOutside(cell, ';').map((part) => {
    const [, word, rest] = /^([A-Za-z ()]+): (.*)$/.exec(part) ?? []
    if (word !== undefined) place = PLACES[word as keyof typeof PLACES]
    if (place === undefined) throw new Error(`where does "${part}" go`)
    return inputOf(place, rest ?? part)
  })
}

function inputOf(place: Input['place'], said: string): Input {
  const [, name, rules = ''] = /^([\w-]+)(?: \((.*)\))?$/.exec(said) ?? []
  if (name === undefined) throw new Error(`no input is named in "${said}"`)
  const number = (pattern: RegExp): number | undefined => {
    const found = pattern.exec(rules)?.[1]
    return found === undefined ? undefined : Number(found)
  }
  const [max, form] = [number(/max (\d+)/), /(token-id|pair-id)/.exec(`${place === 'path' ? name : ''} ${rules}`)?.[1]]
  const [, listed] = /enum (.*)/.exec(rules) ?? []
  const values = listed === undefined ? undefined : codesOf(listed)
  const standard = listed === undefined ? /default (\S+?)(?:,|$)/.exec(rules)?.[1] : /`(\w+)` default/.exec(listed)?.[1]
  const [, shown] = /examples (.*)/.exec(rules) ?? []
  return {
    ...{ place, name, type: typeOf(rules), required: place === 'path' || /\brequired\b/.test(rules) },
    ...(standard === undefined ? {} : { default: standard }),
    ...(max === undefined ? {} : { max }),
    ...(values === undefined ? {} : { values }),
    ...(shown === undefined ? {} : { examples: codesOf(shown) }),
    ...(form === undefined ? {} : { form: form as 'token-id' | 'pair-id' }),
    zeroIsNone: rules.includes('0 means no threshold'),
  }
}

function typeOf(rules: string): Input['type'] {
  if (rules.startsWith('array of string')) return 'array'
  return rules.startsWith('integer') ? 'integer' : 'string'
}
