/** Why a query of a user does not run, in words for that user. */
import { DextapeError } from '../../core/domain/errors.js'
import { RequestError } from '../rest/problem.js'

/** `what` is not allowed. */
export function refused(what: string, why: string): RequestError {
  return new RequestError(400, 'sql_refused', `SQL refused: ${what} is not allowed, ${why}. See docs/sql.md.`)
}

/** The engine's complaints about a query itself. Texts of all others may name files, addresses or settings of the server. */
const ABOUT_THE_QUERY = new Set(
  [
    ...[
      6, 8, 9, 10, 16, 20, 27, 32, 35, 36, 38, 41, 42, 43, 44, 46, 47, 48, 50, 53, 60, 62, 63, 69, 70, 72, 80, 92, 93,
    ],
    ...[
      128, 131, 134, 135, 153, 161, 167, 168, 179, 182, 184, 190, 195, 206, 207, 215, 216, 349, 352, 353, 386, 395, 403,
      407, 427,
    ],
    ...[441, 455, 457, 473, 476, 507, 581, 636, 645],
  ].map(String),
)

const LIMITS = {
  query_timeout: 'Query timed out.',
  query_memory: 'Query exceeds its memory limit.',
  query_too_large: 'Query reads or returns too much.',
}
type Limit = keyof typeof LIMITS

const isLimit = (code: string): code is Limit => Object.hasOwn(LIMITS, code)

export const limitFault = (code: Limit) => new RequestError(400, code, `${LIMITS[code]} ${LIMIT_FIX}`)

const LIMIT_FIX = 'Filter on chain, pair and time, add a LIMIT, or use a key with a larger plan.'

/** What the store reported, as the user's own fault where it is. */
export function asSqlFault(error: unknown): unknown {
  if (!(error instanceof DextapeError)) return error
  if (isLimit(error.code)) return limitFault(error.code)
  const { code, type, message = '' } = (error.cause ?? {}) as { code?: string; type?: string; message?: string }
  if (code === undefined || !/^\d+$/.test(code)) return error
  if (error.retry) return error
  if (!ABOUT_THE_QUERY.has(code))
    return new RequestError(400, 'sql_failed', `The engine could not run this query: ${type ?? 'error'} (${code}).`)
  return new RequestError(400, 'sql_invalid', `Invalid SQL: ${engineText(message)}`)
}

/** Without the engine's prefix, its version and the name of the code. */
function engineText(message: string): string {
  const text = message
    .replace(/^.*?DB::Exception: /s, '')
    .replace(/(\. )?: In scope SELECT formatQuerySingleLine\(.*$/s, '')
    .replace(/: (In scope|While processing) .*$/s, '')
    .replace(/\s*\(version [^)]*\)\s*$/, '')
    .replace(/\s*\([A-Z_]+\)\s*$/, '')
  return text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text
}
