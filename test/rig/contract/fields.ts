/** Fields of a record as the documents type them, in tables and in sentences. */
import { codesOf, splitOutside, type Table } from './markdown.js'

export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'

export type Field = {
  name: string
  type: FieldType
  required: boolean
  /** Of an object: what is in it. */
  fields?: Field[]
  /** The record that elements of an array, or this object, are. */
  record?: string
  /** The values shown, in backticks. */
  values: string[]
}

export type Fields = readonly Field[]

/** A table of `Field | Type`, maybe with `Required`. */
export function tableFields({ header, rows }: Table): Field[] {
  const requiredAt = header.indexOf('Required')
  return rows.map(([name = '', type = '', ...rest]) => ({
    ...fieldOf(name, type),
    required: requiredAt > 0 ? rest[requiredAt - 2] === 'yes' : !/present only on some/.test(type),
  }))
}

const TYPES: readonly FieldType[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']

function fieldOf(name: string, said: string): Field {
  const word = /^[a-z]+/.exec(said)?.[0].replace(/s$/, '')
  const record = /([A-Z][A-Za-z]+)$/.exec(said.replace(/^array of /, ''))?.[1]
  const values = codesOf(said).filter((code) => !code.includes('<'))
  const base = { name, required: true, values, ...(record === undefined ? {} : { record }) }
  const type = TYPES.find((known) => known === word)
  if (type === 'object' && said.startsWith('object:')) return { ...base, type, fields: listFields(said.slice(7)) }
  if (type !== undefined) return { ...base, type }
  if (record !== undefined) return { ...base, type: 'object' }
  if (values.length > 0) return { ...base, type: 'string' }
  throw new Error(`the type of ${name} is not understood: ${said}`)
}

/** `a, b (string), c (integer)`: a name without a type has that of the next one with; `booleans a, b` all have theirs. */
export function listFields(list: string): Field[] {
  const found: Field[] = []
  let waiting: string[] = []
  let shared: string | undefined
  for (const item of splitOutside(list, ',')) {
    const plural = /^and (\w+)s (\w+)$/.exec(item)
    if (plural !== null) shared = plural[1]
    const [, name = '', type = shared] =
      plural === null ? (/^`?([\w.]+)`?(?: \((?:all )?(.*)\))?$/.exec(item) ?? []) : ['', plural[2], shared]
    if (name === '') throw new Error(`no field is named in "${item}"`)
    waiting.push(name)
    if (type === undefined) continue
    found.push(...waiting.map((one) => fieldOf(one, type)))
    waiting = []
  }
  if (waiting.length > 0) throw new Error(`no type is given for ${waiting.join(', ')}`)
  return found
}

/** Fields that are only named, with the type the ones beside them have. */
export const fieldsOfType = (names: readonly string[], type: FieldType): Field[] =>
  names.map((name) => ({ name, type, required: true, values: [] }))
