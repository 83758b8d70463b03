/** Runs the SQL of users: checked by the guard, in turn, within the limits of the key's plan. */
import type { Plan, PlanLimits, Plans } from '../../core/domain/plans.js'
import { type ReadSettings, USER_QUERY } from '../../core/store/port.js'
import { createTurns } from '../history/query-lanes.js'
import type { Access } from '../keys/key-gate.js'
import { createKeyQueries } from '../keys/key-queries.js'
import { RequestError } from '../rest/problem.js'
import { remembering } from './allowed-queries.js'
import { OUTPUT_SETTINGS } from './formats.js'
import { createGuard } from './guard.js'
import { asSqlFault, limitFault } from './sql-faults.js'
import { createUntilStored, type PositionDeps, type UntilStored } from './stored-positions.js'
import { SQL_VIEWS, SYSTEM_VIEWS } from './views.js'

export type SqlAnswer = {
  body: Uint8Array
  /** The engine's name of the format. */
  format: string
  /** The seq of each chain that the answer includes. */
  asOf: ReadonlyMap<string, number>
}

export type SqlRequest = {
  text: string
  /** Decides the engine's format, given that of a FORMAT clause. */
  formatOf: (clause: string | undefined) => string
  output?: ReadSettings
  /** Values of `{name:Type}` in the text. */
  parameters?: ReadonlyMap<string, string>
}

export interface SqlService {
  run(access: Pick<Access, 'id' | 'plan'>, request: SqlRequest): Promise<SqlAnswer>
  /** Rejects if the plan has no SQL. */
  allow(plan: Plan): void
  /** The query as it may run, without its FORMAT clause. */
  check(plan: Plan, text: string): Promise<{ sql: string; format: string | undefined }>
  /** Resolves with the seq of each chain that a query sees from then on. */
  untilStored: UntilStored
}

export type SqlDeps = PositionDeps & { plans: Plans }

/** As many as the embedded engine runs apart from its own queries. */
const LANE = { atOnce: 2, mostWaiting: 50 }

export function createSqlService(deps: SqlDeps): SqlService {
  const { store, plans } = deps
  const { read, database } = store
  const guard = remembering(createGuard({ read, database, views: Object.keys(SQL_VIEWS), systemViews: SYSTEM_VIEWS }))
  const untilStored = createUntilStored(deps)
  const inTurn = createTurns(LANE)
  const queries = createKeyQueries(plans, 'sqlQueries')

  function allow(plan: Plan): void {
    if (plans[plan].sqlQueries !== 0) return
    const detail = `The plan ${plan} has no SQL. Use a key of a plan that has, such as pro or unlimited.`
    throw new RequestError(403, 'sql_not_in_plan', detail, {}, { budget: 'sql_queries', limit: 0, plan })
  }

  async function answer(plan: Plan, { text, formatOf, output = {}, parameters }: SqlRequest): Promise<SqlAnswer> {
    const settings = settingsOf(plans[plan], output)
    const [{ sql, format: clause }, asOf] = await Promise.all([guard(text, settings, parameters), untilStored()])
    const format = formatOf(clause)
    const body = await store.read(`${sql}\nFORMAT ${format}`, settings).catch((error) => {
      throw asSqlFault(error)
    })
    // The engine does not count the result of a query without FROM.
    const { sqlResultBytes: limit } = plans[plan]
    if (limit !== null && body.length > limit) throw limitFault('query_too_large')
    return { body, format, asOf }
  }

  return {
    allow,
    untilStored,
    check: (plan, text) => guard(text, settingsOf(plans[plan])),
    async run(access, request) {
      allow(access.plan)
      return queries.run(access, () => inTurn(() => answer(access.plan, request)))
    },
  }
}

export function settingsOf(plan: PlanLimits, output: ReadSettings = {}): ReadSettings {
  return {
    log_comment: USER_QUERY,
    max_execution_time: plan.sqlSeconds ?? 0,
    timeout_overflow_mode: 'throw',
    max_result_rows: plan.sqlRows ?? 0,
    max_result_bytes: plan.sqlResultBytes ?? 0,
    result_overflow_mode: 'throw',
    max_memory_usage: plan.sqlMemoryBytes ?? 0,
    // Whatever does not fit into memory fails: nothing is written to disk.
    max_bytes_before_external_group_by: 0,
    max_bytes_before_external_sort: 0,
    max_bytes_ratio_before_external_group_by: 0,
    max_bytes_ratio_before_external_sort: 0,
    // One core at most, with small blocks: the engine looks at its clock between them.
    max_threads: 1,
    max_block_size: 8_192,
    max_ast_depth: 200,
    max_expanded_ast_elements: 20_000,
    max_subquery_depth: 20,
    max_parser_depth: 300,
    max_query_size: 262_144,
    ...OUTPUT_SETTINGS,
    ...output,
    readonly: 1,
  }
}
