/** What went wrong between us and the engine, as the one question callers ask: which code, and does a retry help. */
import { ConfigError, DextapeError } from '../domain/errors.js'

const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET'],
])
/** Texts of faults that carry no code: the client's own time-out, a connection cut while the answer was awaited. */
const AWAY_TEXT = /^timeout error|socket hang up|aborted/i

/**
 * Faults of the server's moment, not of the rows: time-outs, sockets, too many queries or parts, memory, disk full, shutting down,
 * read-only replica, keeper.
 */
const PASSING = new Set([
  ...['159', '202', '203', '209', '210', '225', '236', '241', '242', '243', '252', '279', '319', '394', '999'],
])
/** Unknown user, wrong password, missing grant: no retry mends these. */
const REFUSED = new Set(['192', '193', '194', '497', '516'])
const LIMITS: Record<string, { code: string; what: string; fix: string }> = {
  '159': { code: 'query_timeout', what: 'The query took longer than it may', fix: 'Ask for a shorter range' },
  '160': { code: 'query_timeout', what: 'The query would take longer than it may', fix: 'Ask for a shorter range' },
  '241': { code: 'query_memory', what: 'The query needs more memory than it may', fix: 'Ask for a shorter range' },
  '307': { code: 'query_too_large', what: 'The query reads more than it may', fix: 'Ask for a shorter range' },
  '158': { code: 'query_too_large', what: 'The query reads more rows than it may', fix: 'Ask for a shorter range' },
  '396': {
    code: 'query_too_large',
    what: 'The answer has more rows than it may',
    fix: 'Add a LIMIT or a shorter range',
  },
}

/** By shape: the embedded engine throws its own copy of the client's class. Engine codes are digits. */
type EngineError = Error & { code: string; type?: string }

function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && /^\d+$/.test(String((error as { code?: unknown }).code))
}

function networkCode(error: unknown): string {
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && code !== '') return code
  // Several addresses of one host were tried: the first one's code stands for all.
  const [first] = (error as { errors?: unknown[] }).errors ?? []
  return first === undefined ? '' : networkCode(first)
}

export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || isEngineError(error)) return false
  return AWAY.has(networkCode(error)) || AWAY_TEXT.test(error.message)
}

/** The same insert may succeed later. */
export function isPassing(error: unknown): boolean {
  return isAway(error) || (isEngineError(error) && PASSING.has(error.code))
}

/** A message fit for clients: no SQL, no address, no credentials; the engine's own words are in the cause. */
export function storeFault(error: unknown, doing: string): DextapeError {
  if (error instanceof DextapeError) return error
  if (isAway(error))
    return new DextapeError({ code: 'store_away', what: 'The store does not answer', retry: true, cause: error })
  if (!isEngineError(error))
    return new DextapeError({ code: 'query_failed', what: `The store failed at ${doing}`, cause: error })
  const limit = LIMITS[error.code]
  if (limit !== undefined) return new DextapeError({ ...limit, cause: error })
  const got = `${error.type ?? 'error'} (${error.code})`
  if (REFUSED.has(error.code))
    return new ConfigError({
      code: 'store_refused',
      what: `The store does not let this user in, or not do ${doing}`,
      got,
      fix: 'Correct user and password in CLICKHOUSE_URL, or grant the user its database.',
      cause: error,
    })
  const retry = PASSING.has(error.code)
  return new DextapeError({ code: 'query_failed', what: `The store refused ${doing}`, retry, got, cause: error })
}

/** Why, for /status: the engine's or the network's code, and no address. */
export function awayReason(fault: DextapeError): string {
  const code = fault.code === 'store_away' && fault.cause instanceof Error ? networkCode(fault.cause) : ''
  return code === '' ? fault.message : `${fault.message} (${code})`
}
