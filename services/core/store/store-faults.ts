/** Turns errors of the engine and the network into our own: which code, and whether a retry helps. */
import { ConfigError, DextapeError } from '../domain/errors.js'

const UNREACHABLE = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET'],
])
/** Messages of errors without a code: the client's time-out, a connection lost while waiting for the answer. */
const UNREACHABLE_TEXT = /^timeout error|socket hang up|aborted/i

/**
 * Engine codes that depend on the server's current state, not on the rows: time-outs, sockets, too many queries or parts, memory,
 * disk full, shutting down, read-only replica, too few replicas, keeper.
 */
const TRANSIENT = new Set([
  ...['159', '202', '203', '209', '210', '225', '236', '241', '242', '243', '252', '279', '285', '286', '289', '319'],
  ...['394', '999'],
])
/** Unknown user, wrong password, missing grant: a retry does not fix these. */
const REFUSED = new Set(['192', '193', '194', '497', '516'])
const SHORTER = 'Request a shorter range'

/** Queries that exceed a limit, by engine code. */
function limitFault(engineCode: string, cause: unknown): DextapeError | undefined {
  switch (engineCode) {
    case '159':
      return new DextapeError({ code: 'query_timeout', what: 'Query timed out', fix: SHORTER, cause })
    case '160':
      return new DextapeError({ code: 'query_timeout', what: 'Query would time out', fix: SHORTER, cause })
    case '241':
      return new DextapeError({ code: 'query_memory', what: 'Query exceeds its memory limit', fix: SHORTER, cause })
    case '307':
      return new DextapeError({ code: 'query_too_large', what: 'Query reads too many bytes', fix: SHORTER, cause })
    case '158':
      return new DextapeError({ code: 'query_too_large', what: 'Query reads too many rows', fix: SHORTER, cause })
    case '396':
      return new DextapeError({
        code: 'query_too_large',
        what: 'Query returns too many rows',
        fix: 'Add a LIMIT or request a shorter range',
        cause,
      })
    default:
      return undefined
  }
}

/** By shape: the embedded engine throws its own copy of the client's class. Engine codes are digits. */
type EngineError = Error & { code: string; type?: string }

function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && /^\d+$/.test(String((error as { code?: unknown }).code))
}

function networkCode(error: unknown): string {
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && code !== '') return code
  // Several addresses of one host were tried: the first one's code is used.
  const [first] = (error as { errors?: unknown[] }).errors ?? []
  return first === undefined ? '' : networkCode(first)
}

export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error) || isEngineError(error)) return false
  return UNREACHABLE.has(networkCode(error)) || UNREACHABLE_TEXT.test(error.message)
}

/** The same insert may succeed later. */
export function isTransient(error: unknown): boolean {
  return isUnreachable(error) || isDiskFull(error) || (isEngineError(error) && TRANSIENT.has(error.code))
}

/** Of the file that gives the embedded engine its rows. */
function isDiskFull(error: unknown): boolean {
  return error instanceof Error && ['ENOSPC', 'EDQUOT'].includes(networkCode(error))
}

/** A message for clients: no SQL, no address, no credentials; the engine's message is in the cause. */
export function storeFault(error: unknown, doing: string): DextapeError {
  if (error instanceof DextapeError) return error
  if (isUnreachable(error))
    return new DextapeError({ code: 'store_away', what: 'The store is unreachable', retry: true, cause: error })
  if (isDiskFull(error))
    return new DextapeError({
      code: 'query_failed',
      what: `The disk is full during ${doing}`,
      retry: true,
      cause: error,
    })
  if (!isEngineError(error))
    return new DextapeError({ code: 'query_failed', what: `The store failed during ${doing}`, cause: error })
  const limit = limitFault(error.code, error)
  if (limit !== undefined) return limit
  const got = `${error.type ?? 'error'} (${error.code})`
  if (REFUSED.has(error.code))
    return new ConfigError({
      code: 'store_refused',
      what: `The store denied access (${doing})`,
      got,
      fix: 'Correct user and password in CLICKHOUSE_URL, or grant the user access to its database.',
      cause: error,
    })
  const retry = TRANSIENT.has(error.code)
  return new DextapeError({ code: 'query_failed', what: `The store refused ${doing}`, retry, got, cause: error })
}

/** Why, for /status: the engine's or the network's code, and no address. */
export function unreachableReason(fault: DextapeError): string {
  const code = fault.code === 'store_away' && fault.cause instanceof Error ? networkCode(fault.cause) : ''
  return code === '' ? fault.message : `${fault.message} (${code})`
}
