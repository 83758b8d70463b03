/** What a key may use, by its plan, and what all keys may use together. The configuration may change each number. */
export const PLAN_NAMES = ['free', 'basic', 'pro', 'unlimited', 'operator'] as const
export type Plan = (typeof PLAN_NAMES)[number]

/** Null: no limit. */
export type PlanLimits = {
  /** REST requests per second and credit units per month: copied into a key when it is created. */
  ratePerS: number | null
  quotaCu: number | null
  /** Over all sockets of a key. */
  sockets: number | null
  subscriptions: number | null
  ids: number | null
  framesPerS: number | null
  /** Bytes sent to the key's sockets that their clients have not read. */
  unreadBytes: number | null
  /** Approximate memory of the key's sockets, subscriptions, ids and merged pushes. */
  memoryBytes: number | null
  /** REST requests of the key that wait for the store at the same time. */
  historyQueries: number | null
  /** SQL queries of the key at the same time; 0: none. The others bound each of them. */
  sqlQueries: number | null
  sqlSeconds: number | null
  sqlRows: number | null
  sqlResultBytes: number | null
  sqlMemoryBytes: number | null
}

export type Plans = Readonly<Record<Plan, PlanLimits>>

/** What the sockets of all keys may hold in one serve process. */
export type Capacity = { sockets: number; ids: number; unreadBytes: number; memoryBytes: number }

export const MB = 1_048_576

const NO_SQL = { sqlQueries: 0, sqlSeconds: 10, sqlRows: 100_000, sqlResultBytes: 32 * MB, sqlMemoryBytes: 384 * MB }

// Of one machine: a query without bounds could end the process.
const UNLIMITED = {
  ...{ sqlQueries: null, sqlSeconds: 60, sqlRows: 1_000_000, sqlResultBytes: 128 * MB, sqlMemoryBytes: 1024 * MB },
  ...{ ratePerS: null, quotaCu: null, historyQueries: null },
  ...{ sockets: null, subscriptions: null, ids: null, framesPerS: null, unreadBytes: null, memoryBytes: null },
}

export const PLANS = {
  free: {
    ...NO_SQL,
    ...{ ratePerS: 1, quotaCu: null, historyQueries: 2 },
    ...{ sockets: 5, subscriptions: 500, ids: 10_000, framesPerS: 20, unreadBytes: 4 * MB, memoryBytes: 16 * MB },
  },
  basic: {
    ...NO_SQL,
    ...{ ratePerS: 5, quotaCu: null, historyQueries: 5 },
    ...{ sockets: 20, subscriptions: 5_000, ids: 50_000, framesPerS: 100, unreadBytes: 16 * MB, memoryBytes: 96 * MB },
  },
  pro: {
    ...{ ...NO_SQL, sqlQueries: 2 },
    ...{ ratePerS: 20, quotaCu: null, historyQueries: 20 },
    ...{ sockets: 100, subscriptions: 20_000, ids: 200_000, framesPerS: 500 },
    ...{ unreadBytes: 64 * MB, memoryBytes: 384 * MB },
  },
  unlimited: UNLIMITED,
  /** Also opens `/v2/operator`. */
  operator: UNLIMITED,
} as const satisfies Plans

export const CAPACITY: Capacity = {
  sockets: 20_000,
  ids: 1_000_000,
  unreadBytes: 256 * MB,
  memoryBytes: 1024 * MB,
}

export const isPlan = (plan: string): plan is Plan => PLAN_NAMES.some((name) => name === plan)
