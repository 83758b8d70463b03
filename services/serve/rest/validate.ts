import type { TObject, TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import { badRequest } from './problem.js'

export type Validator = (value: unknown) => unknown

/** A check made from a declared schema; throws the 400 that says what was wrong. */
export function validator(schema: TSchema, where: 'path' | 'query' | 'body'): Validator {
  const check = TypeCompiler.Compile(schema)
  return (value) => {
    if (check.Check(value)) return value
    const error = check.Errors(value).First()
    const name = error?.path.slice(1).replaceAll('/', '.') ?? ''
    const what = name === '' ? where : `${where} ${name}`
    throw badRequest(`${where}_invalid`, `${what}: ${error === undefined ? 'is not as declared' : reasonOf(error)}.`)
  }
}

/** Query values come as text: whole numbers are read as such where the schema wants them, nothing else is guessed. */
export function queryValidator(schema: TObject): Validator {
  const check = validator(schema, 'query')
  const integers = new Set(
    Object.entries(schema.properties).flatMap(([name, { type }]) => (type === 'integer' ? [name] : [])),
  )
  return (value) => {
    const given = Object.entries(value as Record<string, unknown>)
    const read = given.map(([name, text]) => [name, integers.has(name) ? wholeNumber(text) : text])
    return check(Object.fromEntries(read))
  }
}

function wholeNumber(text: unknown): unknown {
  return typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

function reasonOf({ schema, message, value }: ValueError): string {
  const allowed = (schema.anyOf ?? [schema]).flatMap((one: { const?: unknown }) =>
    one.const === undefined ? [] : [one.const],
  )
  const wanted = allowed.length > 0 ? `must be ${allowed.join(' or ')}` : message
  return `${wanted}, got ${describeValue(value)}`
}

/** A value nested too deep to be written out is told by its kind. */
function describeValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'nothing').slice(0, 80)
  } catch {
    return Array.isArray(value) ? 'an array' : 'an object'
  }
}
