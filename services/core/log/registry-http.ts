/** A schema registry with Confluent's REST interface: Confluent, Redpanda, Karapace, Apicurio. */
import type { AvroRecord } from '../../../schemas/avro.js'
import { ConfigError, DextapeError } from '../domain/errors.js'
import type { SchemaRegistry } from './registry.js'

export type HttpRegistryOptions = {
  /** `user:password@` in it become basic authentication. */
  url: string
  fetch?: typeof fetch
  timeoutMs?: number
}

const COMPATIBILITY = 'FULL_TRANSITIVE'
const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json'
const DEFAULT_TIMEOUT_MS = 10_000
const SUBJECT_NOT_FOUND = 40401

type Answer = { status: number; body: { id?: unknown; schema?: unknown; error_code?: unknown; message?: unknown } }

export function httpRegistry(options: HttpRegistryOptions): SchemaRegistry {
  const { address, authorization } = splitUrl(options.url)
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const request = options.fetch ?? fetch
  const ids = new Map<string, number | Promise<number>>()
  const schemas = new Map<number, AvroRecord>()

  async function ask(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await send(method, path, body)
    if (answer.status === 401 || answer.status === 403) throw noAccess(address, answer)
    if (answer.status === 429 || answer.status >= 500) throw unavailable(address, described(answer))
    return answer
  }

  async function send(method: string, path: string, body?: object): Promise<Answer> {
    let text: string
    let status: number
    try {
      const response = await request(`${address}${path}`, {
        method,
        headers: { accept: `${MEDIA_TYPE}, application/json`, 'content-type': MEDIA_TYPE, ...authorization },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      status = response.status
      text = await response.text()
    } catch (cause) {
      throw unavailable(address, reasonOf(cause), cause)
    }
    return { status, body: parseBody(text) }
  }

  async function register(subject: string, schema: AvroRecord): Promise<number> {
    const path = `/subjects/${encodeURIComponent(subject)}`
    const body = { schema: JSON.stringify(schema) }
    const found = await ask('POST', path, body)
    if (found.status === 200) return idIn(address, found)
    if (found.status !== 404) throw refused(subject, found)
    if (found.body.error_code === SUBJECT_NOT_FOUND) await setCompatibility(subject)
    const registered = await ask('POST', `${path}/versions`, body)
    if (registered.status !== 200) throw refused(subject, registered)
    return idIn(address, registered)
  }

  async function setCompatibility(subject: string): Promise<void> {
    const answer = await ask('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility: COMPATIBILITY })
    // 409: another process is setting it right now.
    if (answer.status !== 200 && answer.status !== 409) throw unsettable(subject, answer)
  }

  async function fetchSchema(id: number): Promise<AvroRecord | undefined> {
    const answer = await ask('GET', `/schemas/ids/${id}`)
    if (answer.status === 404) return undefined
    if (answer.status !== 200 || typeof answer.body.schema !== 'string') throw unexpected(address, answer)
    const schema = recordSchemaOf(answer.body.schema)
    if (schema !== undefined) schemas.set(id, schema)
    return schema
  }

  return {
    idFor(subject, schema) {
      const key = `${subject}\n${JSON.stringify(schema)}`
      const known = ids.get(key)
      if (known !== undefined) return known
      const registering = register(subject, schema)
      ids.set(key, registering)
      registering.then(
        (id) => ids.set(key, id),
        () => ids.delete(key),
      )
      return registering
    },
    schemaFor: (id) => schemas.get(id) ?? fetchSchema(id),
  }
}

/** A registry's address without the user and password in it, and the header they become. */
export function splitUrl(url: string): { address: string; authorization: { authorization?: string } } {
  const { protocol, host, pathname, username, password } = new URL(url)
  const address = `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
  if (username === '') return { address, authorization: {} }
  const secret = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { address, authorization: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` } }
}

/** Undefined for anything but an Avro record: others may use the registry too. */
function recordSchemaOf(text: string): AvroRecord | undefined {
  try {
    const schema = withShortNames(JSON.parse(text)) as Partial<AvroRecord> | null
    return schema?.type === 'record' ? (schema as AvroRecord) : undefined
  } catch {
    return undefined
  }
}

/** A registry may write a name with its namespace in it (`dextape.Block`), as Avro's canonical form does. */
function withShortNames(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withShortNames)
  if (typeof part !== 'object' || part === null) return part
  const fields = Object.entries(part).map(([key, value]) => [key, key === 'default' ? value : withShortNames(value)])
  const schema = Object.fromEntries(fields) as Record<string, unknown>
  const { name } = schema
  const dot = typeof name === 'string' ? name.lastIndexOf('.') : -1
  if (typeof name !== 'string' || dot < 0) return schema
  return { ...schema, name: name.slice(dot + 1), namespace: name.slice(0, dot) }
}

function parseBody(text: string): Answer['body'] {
  try {
    const body = JSON.parse(text) as unknown
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

function idIn(address: string, answer: Answer): number {
  if (Number.isSafeInteger(answer.body.id)) return answer.body.id as number
  throw unexpected(address, answer)
}

function described({ status, body }: Answer): string {
  return typeof body.message === 'string' ? `${status}: ${body.message}` : String(status)
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message
}

function unavailable(address: string, got: string, cause?: unknown): DextapeError {
  return new DextapeError({
    code: 'registry_unavailable',
    what: `Schema registry at ${address} is unreachable`,
    retry: true,
    got,
    fix: 'Start it, or correct SCHEMA_REGISTRY_URL.',
    cause,
  })
}

function noAccess(address: string, answer: Answer): ConfigError {
  return new ConfigError({
    code: 'registry_no_access',
    what: `Schema registry at ${address} denied access`,
    got: described(answer),
    fix: 'Set SCHEMA_REGISTRY_URL to https://user:password@host with a user that can read and write subjects.',
  })
}

function refused(subject: string, answer: Answer): DextapeError {
  if (answer.status === 409) {
    return new DextapeError({
      code: 'incompatible_schema',
      what: `Schema registry rejected the schema of ${subject}`,
      expected: `each version to read what every other wrote (${COMPATIBILITY})`,
      got: described(answer),
      fix: 'Add fields with a default and remove only fields that have one.',
    })
  }
  return new DextapeError({
    code: 'schema_refused',
    what: `Schema registry rejected the schema of ${subject}`,
    got: described(answer),
  })
}

function unsettable(subject: string, answer: Answer): DextapeError {
  return new DextapeError({
    code: 'compatibility_refused',
    what: `Cannot set the compatibility of ${subject} to ${COMPATIBILITY}: the schema registry refused`,
    got: described(answer),
    fix: 'Allow this user to set it, or register the schemas by hand (schemas/avro).',
  })
}

function unexpected(address: string, answer: Answer): DextapeError {
  return new DextapeError({
    code: 'registry_answer',
    what: `Unexpected answer from the schema registry at ${address}`,
    got: described(answer),
    fix: 'Set SCHEMA_REGISTRY_URL to a registry with Confluent’s REST interface.',
  })
}
