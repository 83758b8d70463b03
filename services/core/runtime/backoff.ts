/** Exponential back-off with full jitter: the wait is uniform between 0 and a ceiling that doubles. */
import { setTimeout as delay } from 'node:timers/promises'

export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

export type BackoffOptions = {
  firstMs?: number
  maxMs?: number
  random?: () => number
  sleep?: Sleep
}

export interface Backoff {
  /** Waits longer at each call; resolves early when the signal aborts. Returns the wait chosen. */
  wait(signal: AbortSignal): Promise<number>
  /** After a success the next wait is short again. */
  reset(): void
  readonly attempts: number
}

/** Resolves after the time or as soon as the signal aborts; never rejects. */
export const sleep: Sleep = async (ms, signal) => {
  if (ms <= 0 || signal.aborted) return
  await delay(ms, undefined, { signal }).catch(() => {})
}

export function createBackoff(options: BackoffOptions = {}): Backoff {
  const { firstMs = 100, maxMs = 30_000, random = Math.random, sleep: wait = sleep } = options
  let attempts = 0
  return {
    async wait(signal) {
      const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(attempts, 30))
      attempts++
      const ms = Math.floor(random() * ceiling)
      await wait(ms, signal)
      return ms
    },
    reset() {
      attempts = 0
    },
    get attempts() {
      return attempts
    },
  }
}

/** Calls until it succeeds, fails permanently, or the signal aborts (then undefined). `onRetry` is called for every failure that is retried. */
export async function withRetry<T>(
  call: () => Promise<T>,
  backoff: Backoff,
  signal: AbortSignal,
  onRetry: (error: unknown, attempt: number) => void,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      const result = await call()
      backoff.reset()
      return result
    } catch (error) {
      if (!isRetryable(error)) throw error
      onRetry(error, backoff.attempts + 1)
      await backoff.wait(signal)
    }
  }
  return undefined
}

/** Resolves once the signal aborts, at once if it already has. */
export function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The work's result, or undefined as soon as the signal aborts: for work that may never end. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop = () => {}
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
    // No one awaits it any more.
    work.catch(() => {})
  }
}

export function isRetryable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { retry?: unknown }).retry === true
}
