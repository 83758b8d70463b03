/** `POST /v2/sql` and `GET /v2/sql/schema`. Declared like operations, but an answer is what the engine writes, in several formats. */
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describePlan } from '../../core/config/plan-settings.js'
import type { Plans } from '../../core/domain/plans.js'
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import type { Access } from '../keys/key-gate.js'
import { type AdmissionDeps, admitKey, charge, keyIn } from '../rest/admission.js'
import { envelope } from '../rest/operation.js'
import { nodeStarting, RequestError, refuseOtherMethods } from '../rest/problem.js'
import { validator } from '../rest/serve-operation.js'
import { int, text } from '../views/field-formats.js'
import { listingAsSelect } from './client-statements.js'
import { FORMAT_NAMES, FORMATS, type Format } from './formats.js'
import { MAX_QUERY_BYTES } from './guard.js'
import type { SqlService } from './sql-service.js'
import { SQL_VIEWS } from './views.js'

const EXAMPLE = 'SELECT chain, sum(amount_usd) AS volume FROM trades WHERE time > now() - INTERVAL 1 DAY GROUP BY chain'

const Body = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: MAX_QUERY_BYTES,
    description: 'A SELECT over the views',
    examples: [EXAMPLE],
  }),
  format: Type.Optional(
    Type.Union(
      FORMAT_NAMES.map((name) => Type.Literal(name)),
      { default: 'json', description: 'Format of the response body' },
    ),
  ),
})

/** Null: no limit. */
const limit = Type.Unsafe<number | null>({ type: ['integer', 'null'] })

const Column = Type.Object({ name: text, type: text })

const none = { params: Type.Object({}), query: Type.Object({}), envelope: false }

export const SQL_QUERY = {
  ...none,
  id: 'sqlQuery',
  method: 'POST',
  path: '/v2/sql',
  costCu: 50,
  body: Body,
  otherTypes: FORMAT_NAMES.flatMap((name) => (name === 'json' ? [] : [FORMATS[name].type.split(';')[0] ?? ''])),
  summary: 'Run a SELECT over the views. X-As-Of has the seq of each chain that the answer includes',
  data: Type.Object({
    meta: Type.Array(Column),
    data: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    rows: int,
    rows_before_limit_at_least: Type.Optional(int),
  }),
} as const

export const SQL_SCHEMA = {
  ...none,
  id: 'sqlSchema',
  method: 'GET',
  path: '/v2/sql/schema',
  costCu: 0,
  summary: 'Views that SQL reads, with the type and meaning of each column',
  data: Type.Object({
    views: Type.Array(
      Type.Object({
        ...{ name: text, summary: text },
        columns: Type.Array(Type.Object({ name: text, type: text, description: text })),
      }),
    ),
    formats: Type.Array(text),
    limits: Type.Object({
      ...{ sql_queries: limit, sql_seconds: limit, sql_rows: limit, sql_result_mb: limit, sql_memory_mb: limit },
    }),
  }),
} as const

export type SqlRouteDeps = AdmissionDeps & {
  sql: SqlService
  store: Pick<Store, 'query'>
  plans: Plans
  logger: Logger
  envelope: 'spec' | 'always'
}

export function addSqlRoutes(app: FastifyInstance, deps: SqlRouteDeps): void {
  const { sql, plans } = deps
  const checkBody = validator(Body, 'body')
  const isWrapped = (request: FastifyRequest) =>
    deps.envelope === 'always' || request.headers['x-envelope'] === 'always'
  const accessOf = new WeakMap<FastifyRequest, Access>()
  const admit = (costCu: number) => async (request: FastifyRequest, reply: FastifyReply) => {
    accessOf.set(request, admitKey(deps, keyIn(request), costCu, reply))
  }

  refuseOtherMethods(app, SQL_QUERY.path, 'POST')
  app.post(SQL_QUERY.path, { onRequest: admit(SQL_QUERY.costCu) }, async (request, reply) => {
    const access = accessOf.get(request)
    if (access === undefined) throw nodeStarting()
    const { query, format = 'json' } = checkBody(request.body) as { query: string; format?: Format }
    const { engine, type } = FORMATS[format]
    const asked = { text: listingAsSelect(query), formatOf: (clause?: string) => ownFormat(clause, engine) }
    const answer = await sql.run(access, asked)
    charge(deps, access, SQL_QUERY, reply)
    const body = Buffer.from(answer.body)
    return reply
      .headers({ 'x-as-of': asOfText(answer.asOf), 'cache-control': 'no-store' })
      .type(type)
      .send(format === 'json' && isWrapped(request) ? wrapped(body) : body)
  })

  refuseOtherMethods(app, SQL_SCHEMA.path, 'GET')
  app.get(SQL_SCHEMA.path, { onRequest: admit(SQL_SCHEMA.costCu) }, async (request, reply) => {
    const access = accessOf.get(request)
    if (access === undefined) throw nodeStarting()
    sql.allow(access.plan)
    const { sql_queries, sql_seconds, sql_rows, sql_result_mb, sql_memory_mb } = describePlan(plans[access.plan])
    const limits = { sql_queries, sql_seconds, sql_rows, sql_result_mb, sql_memory_mb }
    const data = { views: await describeViews(deps.store), formats: FORMAT_NAMES, limits }
    reply.headers({ 'x-cu-cost': SQL_SCHEMA.costCu, 'cache-control': 'no-cache' })
    return isWrapped(request) ? envelope(data) : data
  })
}

export function asOfText(asOf: ReadonlyMap<string, number>): string {
  return [...asOf].map(([chain, seq]) => `${chain}=${seq}`).join('; ')
}

function ownFormat(clause: string | undefined, engine: string): string {
  if (clause === undefined) return engine
  throw new RequestError(400, 'sql_format', `Remove FORMAT ${clause} from the query and send \`format\` beside it.`)
}

function wrapped(json: Buffer): Buffer {
  const [before = '', after = ''] = JSON.stringify(envelope('@')).split('"@"')
  return Buffer.concat([Buffer.from(before), json, Buffer.from(after)])
}

async function describeViews(store: Pick<Store, 'query'>) {
  const rows = await store.query<{ table: string; name: string; type: string }>(
    'SELECT table, name, type FROM sql_columns ORDER BY table, position',
  )
  return Object.entries(SQL_VIEWS).map(([name, { summary, columns }]) => ({
    ...{ name, summary },
    columns: rows
      .filter(({ table }) => table === name)
      .map((column) => ({ name: column.name, type: column.type, description: columns[column.name] ?? '' })),
  }))
}
