/** The same question to every endpoint that can be asked now: what most of them say shows who is behind. */
import type { Endpoint } from './endpoint.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'

/** Every so many questions all endpoints are asked, else the best alone. */
const ASK_ALL_EVERY = 8
/** One that is slow must not hold up the head. */
const TIMEOUT_MS = 3_000

export type Answered<T> = { endpoint: Endpoint; answer: T }

/** Of those that answered; now and then, else none was asked. */
export function createAskEvery<T>(
  pool: EndpointPool,
  ask: (endpoint: Endpoint, asking: Asking) => Promise<T>,
): (asking: Asking) => Promise<Answered<T>[]> {
  let times = 0
  return async (asking) => {
    if (pool.endpoints.length <= 1 || times++ % ASK_ALL_EVERY !== 0) return []
    const ready = pool.endpoints.filter((endpoint) => endpoint.health.usable && endpoint.waitMs() === 0)
    const answers = await Promise.allSettled(
      ready.map(async (endpoint) => ({ endpoint, answer: await ask(endpoint, { ...asking, timeoutMs: TIMEOUT_MS }) })),
    )
    asking.signal.throwIfAborted()
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
}
