/** What failed, why, and what to do about it. REST, sockets and subscriptions all throw this. */
export class DextapeError extends Error {
  /** As in the server's answer (`key_invalid`, `rate_limited` …), or `unreachable`, `timeout`, `params_invalid`, `limit_exceeded`. */
  readonly code: string
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined
  /** What to do about it. */
  readonly action: string
  /** True if the same call can succeed later. */
  readonly isRetryable: boolean
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined

  constructor(code: string, reason: string, given: { status?: number; retryAfterMs?: number; cause?: unknown } = {}) {
    const { status, retryAfterMs, cause } = given
    const isRetryable = RETRYABLE.has(code) || status === 429 || (status ?? 0) >= 500
    const action = ACTIONS[code] ?? (isRetryable ? 'Retry later.' : 'Correct the request.')
    super(`${reason} ${action}`, cause === undefined ? {} : { cause })
    this.name = 'DextapeError'
    this.code = code
    this.status = status
    this.action = action
    this.isRetryable = isRetryable && code !== 'cu_exhausted'
    this.retryAfterMs = retryAfterMs
  }
}

const RETRYABLE = new Set(['unreachable', 'timeout', 'closed', 'internal'])

const CREATE_KEY = 'Create a key with `dextape keys create` and pass it as `key`.'
const ACTIONS: Record<string, string> = {
  key_missing: CREATE_KEY,
  key_invalid: CREATE_KEY,
  key_expired: CREATE_KEY,
  unreachable: 'Check `url` and that the server is running.',
  timeout: 'Retry, ask for less, or raise `timeoutMs`.',
  rate_limited: 'Wait for `retryAfterMs`, or use a key with a larger plan.',
  cu_exhausted: 'Wait for the next month, or use a key with a larger plan.',
  limit_exceeded: 'Close other subscriptions, or use a key with a larger plan.',
  params_invalid: 'Correct the parameters.',
  after_unknown: 'Read by time from there.',
  gap_unbounded: 'Read the history you need by REST.',
  websocket_missing: 'Install it with `npm install ws`, or use Node 22 or newer.',
}

/** Codes of JSON-RPC errors, by number. */
export function rpcError({ code, message }: { code: number; message: string }): DextapeError {
  if (code === -1) return new DextapeError('key_invalid', `${message}.`)
  if (code === -32005) return new DextapeError('limit_exceeded', message)
  return new DextapeError(code === -32603 ? 'internal' : 'params_invalid', message)
}
