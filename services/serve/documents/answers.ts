/** What all operations have in common: the headers of an answer, and the errors. */
import type { JsonSchema } from './json-schema.js'

const header = (description: string, type: 'string' | 'integer') => ({ description, schema: { type } })

export const headers = {
  'X-As-Of': header("The chain's now, epoch seconds; of several chains the lowest, then each by name", 'string'),
  'X-CU-Cost': header('What this request cost, in credit units', 'integer'),
  'X-CU-Remaining': header('Credit units left this month; only for keys with a quota', 'integer'),
  'X-Reason': header('Why data is empty or full of nulls, where it is', 'string'),
  RateLimit: header('Requests left in this second; only for keys with a rate', 'string'),
  'RateLimit-Policy': header('The rate of this key', 'string'),
  'Retry-After': header('Seconds to wait', 'integer'),
}

export const PROBLEM_SCHEMA: JsonSchema = {
  description: 'An error as RFC 9457 writes it',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'msg'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What was wrong' },
    code: { type: 'string', description: 'What was wrong, for programs' },
    msg: { type: 'string', description: 'Repeats detail' },
    reset_at: {
      type: 'integer',
      description: 'With cu_exhausted: when the credit units are given anew, epoch seconds',
    },
  },
}

export const ERROR_STATUSES = ['400', '401', '403', '429', '500', '503'] as const

const MEANINGS: Record<(typeof ERROR_STATUSES)[number], string> = {
  400: 'Bad request; detail says what was wrong',
  401: 'API key missing or invalid',
  403: 'API key expired',
  429: 'Too many requests in a second (rate_limited) or credit units spent (cu_exhausted)',
  500: 'Server error',
  503: 'The store does not answer at the moment (store_away), or this node is starting',
}

export const errorResponses = Object.fromEntries(
  ERROR_STATUSES.map((status) => [
    status,
    {
      description: MEANINGS[status],
      ...(status === '429' || status === '503'
        ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } }
        : {}),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ]),
)
