/** What went wrong, in words for a person. `kind` says what to do about it. */
export class CallError extends Error {
  /**
   * @param {'key' | 'limited' | 'gone' | 'failed'} kind
   * @param {string} message
   * @param {number} [retryAfterS]
   */
  constructor(kind, message, retryAfterS = 1) {
    super(message)
    this.kind = kind
    this.retryAfterS = retryAfterS
  }
}

/** A key's rate is waited for; its credit units, given anew each month, are not. */
const LONGEST_WAIT_S = 5

/** A REST call; gives the data, out of its envelope where it has one. Too many in a second: asks again in the next. */
export async function call(key, path, options) {
  for (;;) {
    try {
      return await callOnce(key, path, options)
    } catch (error) {
      if (error.kind !== 'limited' || error.retryAfterS > LONGEST_WAIT_S) throw error
      // Those that wait do not come back all at once.
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
  if (!response.ok) throw new CallError('failed', `The server answered ${response.status} to /status.`)
  return response.json()
}

async function reach(path, options) {
  try {
    return await fetch(path, options)
  } catch {
    throw new CallError('gone', 'The server does not answer.')
  }
}

function refusal(response, answer) {
  const detail = typeof answer.detail === 'string' ? answer.detail : `The server answered ${response.status}.`
  if (response.status === 401 || response.status === 403) return new CallError('key', detail)
  if (response.status === 429) return new CallError('limited', detail, Number(response.headers.get('retry-after') ?? 1))
  return new CallError('failed', detail)
}
