/** A failed request, with a message for the user. `kind` says how to handle it. */
export class CallError extends Error {
  /**
   * @param {'key' | 'limited' | 'unreachable' | 'failed'} kind
   * @param {string} message
   * @param {number} [retryAfterS]
   */
  constructor(kind, message, retryAfterS = 1) {
    super(message)
    this.kind = kind
    this.retryAfterS = retryAfterS
  }
}

/** Waits for the rate limit, but not for a monthly quota. */
const LONGEST_WAIT_S = 5

/** Makes a REST call and returns its data without the envelope. Retries when rate limited. */
export async function call(key, path, options) {
  for (;;) {
    try {
      return await callOnce(key, path, options)
    } catch (error) {
      if (error.kind !== 'limited' || error.retryAfterS > LONGEST_WAIT_S) throw error
      // Jitter, so that waiting calls do not retry all at once.
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterS * 1000 * (1 + Math.random())))
    }
  }
}

async function callOnce(key, path, { method = 'GET', body } = {}) {
  const response = await reach(path, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json().catch(() => ({}))
  if (!response.ok) throw refusal(response, answer)
  return 'data_type' in Object(answer) ? answer.data : answer
}

export async function readStatus() {
  const response = await reach('/status')
  if (!response.ok) throw new CallError('failed', `GET /status failed with status ${response.status}.`)
  return response.json()
}

async function reach(path, options) {
  try {
    return await fetch(path, options)
  } catch {
    throw new CallError('unreachable', 'Cannot reach the server.')
  }
}

function refusal(response, answer) {
  const detail = typeof answer.detail === 'string' ? answer.detail : `Request failed with status ${response.status}.`
  if (response.status === 401 || response.status === 403) return new CallError('key', detail)
  if (response.status === 429) return new CallError('limited', detail, Number(response.headers.get('retry-after') ?? 1))
  return new CallError('failed', detail)
}
