/** New heads as they come: by notice where somebody gives it, else asked for. */

import { setMaxListeners } from 'node:events'
import type { Sleep } from '../../../core/runtime/backoff.js'
import type { Endpoint } from './endpoint.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'

export type HeadWatch<H> = {
  /** What it fails with is the caller's to tell of, and to try again. */
  poll(signal: AbortSignal): Promise<H>
  /** How long until the next poll, unless something is told before. */
  pollMs(): number
  /** Two heads with the same one are the same. */
  keyOf(head: H): string | number
  /** Runs until the signal aborts. `tell(null)`: the head may have changed, and is to be asked for. */
  listen(tell: (head: H | null) => void, signal: AbortSignal): Promise<void>
  nowMs: () => number
  sleep: Sleep
}

/** A head is told again: on a chain that stands still nothing else would bring anybody back to what came late, could not be read, or was not believed. */
const AGAIN_MS = 2_000

/** Of what a chain's requests are rationed to. */
const SHARE_OF_RPS = 0.25

/** How often heads may be asked for at the most, where so many requests a second are allowed. */
export const rationedMs = (perS: number): number => (Number.isFinite(perS) ? 1000 / (perS * SHARE_OF_RPS) : 0)

export async function* watchHeads<H>(watch: HeadWatch<H>, signal: AbortSignal): AsyncGenerator<H> {
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, ended.signal])
  setMaxListeners(0, stop)
  let wake = (): void => {}
  let told: H | null = null
  /** Something happened that the loop has not looked at. */
  let isDue = false
  const listening = watch.listen((head) => {
    if (head !== null) told = head
    isDue = true
    wake()
  }, stop)
  const keyNow = (head: H): string => `${watch.keyOf(head)} ${Math.floor(watch.nowMs() / AGAIN_MS)}`
  let last: string | null = null
  try {
    while (!stop.aborted) {
      isDue = false
      const noticed: H | null = told
      told = null
      const head = noticed ?? (await polled())
      const key: string | null = head === null ? last : keyNow(head)
      if (head !== null && key !== last) {
        last = key
        yield head
      }
      if (!isDue && !stop.aborted) await pause()
    }
  } finally {
    ended.abort()
    await listening
  }

  async function polled(): Promise<H | null> {
    try {
      return await watch.poll(stop)
    } catch (error) {
      if (stop.aborted) return null
      throw error
    }
  }

  /** Until the next poll, or a notice. */
  async function pause(): Promise<void> {
    const early = new AbortController()
    wake = () => early.abort()
    // Not AbortSignal.any: on Node 20 each would stay as long as the signal it listens to.
    stop.addEventListener('abort', wake, { once: true })
    await watch.sleep(watch.pollMs(), early.signal)
    stop.removeEventListener('abort', wake)
    wake = () => {}
  }
}

/** Every so many questions all endpoints are asked, else the best alone. */
const ASK_ALL_EVERY = 8
/** One that is slow must not hold up the head. */
const ASK_TIMEOUT_MS = 3_000

export type Answered<T> = { endpoint: Endpoint; answer: T }

/** Asks every endpoint that can be asked now: comparing their heads shows which lag. Empty: not asked this time. */
export function createAskEvery<T>(
  pool: EndpointPool,
  ask: (endpoint: Endpoint, asking: Asking) => Promise<T>,
): (asking: Asking) => Promise<Answered<T>[]> {
  let times = 0
  return async (asking) => {
    if (pool.endpoints.length <= 1 || times++ % ASK_ALL_EVERY !== 0) return []
    const ready = pool.endpoints.filter((endpoint) => endpoint.health.usable && endpoint.waitMs() === 0)
    const answers = await Promise.allSettled(
      ready.map(async (endpoint) => ({
        endpoint,
        answer: await ask(endpoint, { ...asking, timeoutMs: ASK_TIMEOUT_MS }),
      })),
    )
    asking.signal.throwIfAborted()
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
}
