/** Describes what is wrong with a configuration file: one sentence per problem, with the key and the nearest known one. */
import { Kind, type TSchema } from '@sinclair/typebox'
import { Errors, type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { nearestName } from './nearest-name.js'

/** Keys whose value must not appear in a message. */
const SECRETS = new Set([
  ...['api_key', 'ws_token_secret', 'clickhouse.url', 'clickhouse.password', 'tracing.otlp_url'],
  ...['kafka.schema_registry_url', 'kafka.schema_registry_password', 'kafka.sasl.password'],
])
const isSecret = (name: string): boolean => SECRETS.has(name) || /^chains\.[^.]+\.(rpc|geyser)(\.|$)/.test(name)

export function schemaProblems(schema: TSchema, value: unknown): string[] {
  const problems = new Map<string, string>()
  for (const error of Errors(schema, value)) {
    if (!problems.has(error.path)) problems.set(error.path, describeProblem(schema, error))
  }
  return [...problems.values()]
}

function describeProblem(root: TSchema, error: ValueError): string {
  const path = error.path.split('/').slice(1)
  const name = path.join('.')
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return unknownKey(root, path)
  if (path.length === 0) return `the file must consist of keys and values, got ${describeValue(error.value)}`
  if (error.value === undefined) return `"${name}" is required`
  if (isSecret(name)) return `"${name}" must be ${describeExpected(error.schema)}`
  const quotes = isUnquotedAddress(error) ? '; put the address in quotes, or YAML reads it as a number' : ''
  return `"${name}" must be ${describeExpected(error.schema)}, got ${describeValue(error.value)}${quotes}`
}

/** `0x…` of 40 or 64 digits, read as a number. */
const isUnquotedAddress = ({ schema, value }: ValueError): boolean =>
  schema[Kind] === 'String' && typeof value === 'number' && value > Number.MAX_SAFE_INTEGER

function unknownKey(root: TSchema, path: string[]): string {
  const key = path.at(-1) ?? ''
  const known = knownKeys(root, path.slice(0, -1))
  const nearest = nearestName(key, known)
  const hint = nearest === undefined ? `known keys are ${known.join(', ')}` : `did you mean "${nearest}"?`
  return `unknown key "${path.join('.')}": ${hint}`
}

function knownKeys(root: TSchema, path: string[]): string[] {
  let schema: TSchema | undefined = root
  for (const step of path) {
    if (schema?.[Kind] === 'Record') schema = Object.values(schema.patternProperties as Record<string, TSchema>)[0]
    else if (schema?.[Kind] === 'Array') schema = schema.items as TSchema
    else schema = (schema?.properties as Record<string, TSchema> | undefined)?.[step]
  }
  return Object.keys((schema?.properties as Record<string, unknown> | undefined) ?? {})
}

function describeExpected(schema: TSchema): string {
  if (schema.description !== undefined) return schema.description
  switch (schema[Kind]) {
    case 'Union':
      return (schema.anyOf as TSchema[]).map((branch) => JSON.stringify(branch.const)).join(' or ')
    case 'Integer':
      return schema.maximum < Number.MAX_SAFE_INTEGER
        ? `a whole number from ${schema.minimum} to ${schema.maximum}`
        : `a whole number, ${schema.minimum} or more`
    case 'Number':
      return 'a number above 0'
    case 'Array':
      return 'a list with at least one entry'
    case 'String':
      return 'a non-empty string'
    default:
      return 'a section with keys and values'
  }
}

function describeValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  // A URL may hold a secret, even under the wrong key.
  if (text.includes('://')) return 'a URL (hidden)'
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
