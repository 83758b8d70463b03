/** The `plans` and `capacity` sections: read over the defaults, and written for display in the same keys. */
import { type Static, Type } from '@sinclair/typebox'
import {
  CAPACITY,
  type Capacity,
  MB,
  PLAN_NAMES,
  PLANS,
  type Plan,
  type PlanLimits,
  type Plans,
} from '../domain/plans.js'

const closed = { additionalProperties: false }
const count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const budget = Type.Optional(
  Type.Union([count, Type.Literal('none')], { description: 'a whole number, 1 or more, or "none" for no limit' }),
)

/** A plan without SQL has 0. */
const countOrNone = Type.Optional(
  Type.Union([Type.Integer({ minimum: 0, maximum: 1000 }), Type.Literal('none')], {
    description: 'a whole number up to 1000, 0 for no SQL, or "none" for no limit',
  }),
)

/** Each key of a plan, with what it sets and the factor of its unit. */
const PLAN_KEYS = {
  requests_per_s: ['ratePerS', 1],
  cu_per_month: ['quotaCu', 1],
  sockets: ['sockets', 1],
  subscriptions: ['subscriptions', 1],
  ids: ['ids', 1],
  frames_per_s: ['framesPerS', 1],
  unread_mb: ['unreadBytes', MB],
  memory_mb: ['memoryBytes', MB],
  history_queries: ['historyQueries', 1],
  sql_queries: ['sqlQueries', 1],
  sql_seconds: ['sqlSeconds', 1],
  sql_rows: ['sqlRows', 1],
  sql_result_mb: ['sqlResultBytes', MB],
  sql_memory_mb: ['sqlMemoryBytes', MB],
} as const satisfies Record<string, readonly [keyof PlanLimits, number]>

const CAPACITY_KEYS = {
  sockets: ['sockets', 1],
  ids: ['ids', 1],
  unread_mb: ['unreadBytes', MB],
  memory_mb: ['memoryBytes', MB],
} as const satisfies Record<string, readonly [keyof Capacity, number]>

type PlanKey = keyof typeof PLAN_KEYS
type CapacityKey = keyof typeof CAPACITY_KEYS

const plan = Type.Optional(
  Type.Object(
    Object.fromEntries(
      Object.keys(PLAN_KEYS).map((key) => [key, key === 'sql_queries' ? countOrNone : budget]),
    ) as Record<PlanKey, typeof budget>,
    closed,
  ),
)
export const PlansSection = Type.Object({ free: plan, basic: plan, pro: plan, unlimited: plan, operator: plan }, closed)
const optionalCount = Type.Optional(count)
export const CapacitySection = Type.Object(
  Object.fromEntries(Object.keys(CAPACITY_KEYS).map((key) => [key, optionalCount])) as Record<
    CapacityKey,
    typeof optionalCount
  >,
  closed,
)

export function readPlans(sections: Static<typeof PlansSection> = {}): Plans {
  const plans = PLAN_NAMES.map((name): [Plan, PlanLimits] => {
    const limits: PlanLimits = { ...PLANS[name] }
    for (const [key, [limit, unit]] of Object.entries(PLAN_KEYS)) {
      const given = sections[name]?.[key as PlanKey]
      if (given !== undefined) limits[limit] = given === 'none' ? null : given * unit
    }
    return [name, limits]
  })
  return Object.fromEntries(plans) as Record<Plan, PlanLimits>
}

export function readCapacity(section: Static<typeof CapacitySection> = {}): Capacity {
  const capacity = { ...CAPACITY }
  for (const [key, [limit, unit]] of Object.entries(CAPACITY_KEYS)) {
    const given = section[key as CapacityKey]
    if (given !== undefined) capacity[limit] = given * unit
  }
  return capacity
}

/** Null: no limit. */
export type DescribedPlan = Record<PlanKey, number | null>

export function describePlan(limits: PlanLimits): DescribedPlan {
  const described = Object.entries(PLAN_KEYS).map(([key, [limit, unit]]) => {
    const value = limits[limit]
    return [key, value === null ? null : value / unit]
  })
  return Object.fromEntries(described) as DescribedPlan
}

export function describePlans(plans: Plans): Record<Plan, DescribedPlan> {
  return Object.fromEntries(PLAN_NAMES.map((name) => [name, describePlan(plans[name])])) as Record<Plan, DescribedPlan>
}

export function describeCapacity(capacity: Capacity): Record<CapacityKey, number> {
  const described = Object.entries(CAPACITY_KEYS).map(([key, [limit, unit]]) => [key, capacity[limit] / unit])
  return Object.fromEntries(described) as Record<CapacityKey, number>
}
