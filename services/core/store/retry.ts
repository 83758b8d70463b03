/** Tries until it works or the signal says stop: a batch is never dropped because the store was away. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DextapeError } from '../domain/errors.js'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

export type Trouble = { doing: string; attempt: number; waitMs: number; error: DextapeError }

export type RetryPlan = {
  doing: string
  signal: AbortSignal
  isPassing: (error: unknown) => boolean
  asFault: (error: unknown) => DextapeError
  onTrouble: (trouble: Trouble) => void
}

export async function untilDone<T>(plan: RetryPlan, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    if (plan.signal.aborted) throw closed(plan.doing)
    try {
      return await run()
    } catch (error) {
      const fault = plan.asFault(error)
      if (!plan.isPassing(error)) throw fault
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
      plan.onTrouble({ doing: plan.doing, attempt, waitMs, error: fault })
      await sleep(waitMs, undefined, { signal: plan.signal }).catch(() => {})
    }
  }
}

export function closed(doing: string): DextapeError {
  return new DextapeError({ code: 'store_closed', what: `The store was closed before ${doing} was done`, retry: true })
}
