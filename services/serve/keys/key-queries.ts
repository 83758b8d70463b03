import type { Plans } from '../../core/domain/plans.js'
import { RequestError } from '../rest/problem.js'
import type { Access } from './key-gate.js'

/** Requests of each key that wait for the store, in this process. */
export interface KeyQueries {
  /** Rejects with 429, and does nothing, if the key's plan allows no further request at the same time. */
  run<Result>(access: Pick<Access, 'id' | 'plan'>, work: () => Promise<Result>): Promise<Result>
  running(): number
}

const BUDGETS = {
  historyQueries: { what: 'history', budget: 'history_queries' },
  sqlQueries: { what: 'SQL', budget: 'sql_queries' },
} as const

export function createKeyQueries(plans: Plans, kind: keyof typeof BUDGETS): KeyQueries {
  const byKey = new Map<string, number>()
  let running = 0

  return {
    async run({ id, plan }, work) {
      const limit = plans[plan][kind]
      const own = byKey.get(id) ?? 0
      if (limit !== null && own >= limit) throw tooManyQueries(kind, plan, limit)
      byKey.set(id, own + 1)
      running += 1
      try {
        return await work()
      } finally {
        const left = (byKey.get(id) ?? 1) - 1
        if (left === 0) byKey.delete(id)
        else byKey.set(id, left)
        running -= 1
      }
    },
    running: () => running,
  }
}

function tooManyQueries(kind: keyof typeof BUDGETS, plan: string, limit: number): RequestError {
  const { what, budget } = BUDGETS[kind]
  return new RequestError(
    429,
    'too_many_queries',
    `Too many ${what} queries at once: plan ${plan} allows ${limit} per key. Wait for an answer first, or use a key with a larger plan.`,
    { 'retry-after': '1' },
    { budget, limit, plan },
  )
}
