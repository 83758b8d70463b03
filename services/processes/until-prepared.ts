import { createBackoff, withRetry } from '../core/runtime/backoff.js'

const LONGEST_WAIT_MS = 2000

/** Tries what a start needs until it is there; false where the process shall stop before. What is away is told by health. */
export async function untilPrepared(prepare: () => Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const attempt = async () => {
    await prepare()
    return true
  }
  return (await withRetry(attempt, createBackoff({ maxMs: LONGEST_WAIT_MS }), signal, () => {})) === true
}
