import { DextapeError } from './errors.js'
import { OPERATIONS, type Operations } from './generated/interface.js'

export type RestOptions = {
  /** Of the REST port, such as `http://127.0.0.1:8080`. */
  url: string
  key: string
  /** For one request (30,000). */
  timeoutMs?: number
}

export type OperationName = keyof Operations
export type Params<Name extends OperationName> = Operations[Name]['params']
export type Result<Name extends OperationName> = Operations[Name]['result']

export type Answer<Data> = {
  data: Data
  /** `X-As-Of`: the chain's now in epoch seconds, and of each chain if there are several. */
  asOf: string | undefined
  /** `X-Reason`: why the answer is empty or sparse. */
  reason: string | undefined
  headers: Headers
}

export type CallOptions = { signal?: AbortSignal | undefined }

/** One method per operation of the interface. */
export type RestMethods = {
  [Name in OperationName]: Params<Name> extends Record<string, never>
    ? (params?: Record<string, never>, options?: CallOptions) => Promise<Result<Name>>
    : (params: Params<Name>, options?: CallOptions) => Promise<Result<Name>>
}

export type Rest = {
  methods: RestMethods
  /** The answer with its headers. */
  call<Name extends OperationName>(
    name: Name,
    params: Params<Name>,
    options?: CallOptions,
  ): Promise<Answer<Result<Name>>>
  /** Any path of the server, such as the `refill` of a gap. */
  get(path: string, options?: CallOptions): Promise<unknown>
}

const TIMEOUT_MS = 30_000

export function createRest({ url, key, timeoutMs = TIMEOUT_MS }: RestOptions): Rest {
  const base = url.replace(/\/+$/, '')

  async function request(method: string, path: string, body: unknown, { signal }: CallOptions) {
    const what = `${method} ${path.split('?')[0]}`
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: {
          'X-API-KEY': key,
          'X-Envelope': 'always',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      // Not JSON lines: those are as they came, like other files.
      const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
      const content: unknown = isJson ? await response.json() : await response.arrayBuffer()
      if (!response.ok) throw problemOf(what, response, content)
      return { data: unwrap(content), headers: response.headers }
    } catch (error) {
      if (error instanceof DextapeError || signal?.aborted) throw error
      if (timeout.aborted) throw new DextapeError('timeout', `${what} timed out after ${timeoutMs} ms.`)
      throw new DextapeError('unreachable', `${what} failed: no answer from ${base}.`, { cause: error })
    }
  }

  async function call<Name extends OperationName>(
    name: Name,
    params: Params<Name>,
    options: CallOptions = {},
  ): Promise<Answer<Result<Name>>> {
    const { method, path, body } = requestOf(name, params)
    const { data, headers } = await request(method, path, body, options)
    const header = (field: string) => headers.get(field) ?? undefined
    return { data: data as Result<Name>, asOf: header('x-as-of'), reason: header('x-reason'), headers }
  }

  const methods = Object.fromEntries(
    (Object.keys(OPERATIONS) as OperationName[]).map((name) => [
      name,
      async (params: Params<typeof name> = {} as Params<typeof name>, options?: CallOptions) =>
        (await call(name, params, options)).data,
    ]),
  ) as unknown as RestMethods

  return { methods, call, get: async (path, options = {}) => (await request('GET', path, undefined, options)).data }
}

function requestOf(name: OperationName, params: object): { method: string; path: string; body: unknown } {
  const { method, path, body } = OPERATIONS[name]
  const inBody: readonly string[] = body
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  const rest = new Map(given)
  const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest.get(field)
    if (value === undefined) throw new DextapeError('params_invalid', `${name} needs ${field}.`)
    rest.delete(field)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  for (const [field, value] of rest) if (!inBody.includes(field)) query.set(field, String(value))
  const content = Object.fromEntries([...rest].filter(([field]) => inBody.includes(field)))
  return {
    method,
    path: query.size === 0 ? filled : `${filled}?${query}`,
    body: inBody.length === 0 ? undefined : content,
  }
}

/** `X-Envelope: always` wraps every JSON answer. */
function unwrap(content: unknown): unknown {
  const isWrapped = typeof content === 'object' && content !== null && 'data' in content && 'data_type' in content
  return isWrapped ? content.data : content
}

function problemOf(what: string, { status, headers }: Response, content: unknown): DextapeError {
  const { code, detail } = (content ?? {}) as { code?: string; detail?: string }
  const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN)
  return new DextapeError(code ?? `http_${status}`, `${what} failed (${status}): ${detail ?? 'no reason given'}`, {
    status,
    ...(Number.isFinite(retryAfterS) ? { retryAfterMs: retryAfterS * 1000 } : {}),
  })
}
