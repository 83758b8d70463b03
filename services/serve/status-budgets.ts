import { describeCapacity, describePlans } from '../core/config/plan-settings.js'
import { type Capacity, MB, type Plans } from '../core/domain/plans.js'
import type { PushUsage } from './serve-deps.js'

export type BudgetStatus = {
  /** Budgets of a key, by plan; null: no limit. */
  plans: ReturnType<typeof describePlans>
  /** What all keys may hold in this process. */
  capacity: ReturnType<typeof describeCapacity>
  /** What all keys hold in this process. Without the members of sockets if their thread does not answer. */
  in_use: Partial<SocketsInUse> & { history_queries: number }
}

type SocketsInUse = {
  /** Keys with an open socket. */
  keys: number
  sockets: number
  subscriptions: number
  ids: number
  unread_mb: number
  memory_mb: number
}

type BudgetParts = { plans: Plans; capacity: Capacity; push: PushUsage | undefined; historyQueries: number }

export function describeBudgets({ plans, capacity, push, historyQueries }: BudgetParts): BudgetStatus {
  const inUse = push === undefined ? {} : socketsInUse(push)
  return {
    plans: describePlans(plans),
    capacity: describeCapacity(capacity),
    in_use: { ...inUse, history_queries: historyQueries },
  }
}

function socketsInUse({ unreadBytes, memoryBytes, ...counts }: PushUsage): SocketsInUse {
  const inMb = (bytes: number) => Math.round((bytes / MB) * 10) / 10
  return { ...counts, unread_mb: inMb(unreadBytes), memory_mb: inMb(memoryBytes) }
}
