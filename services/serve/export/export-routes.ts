/** `POST /v2/export` and `POST /v2/export/partitions`. Declared like operations, but the answer is a file. */
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { INTERVALS } from '../../core/domain/chains.js'
import type { Access } from '../keys/key-gate.js'
import { type AdmissionDeps, admitKey, charge, keyIn } from '../rest/admission.js'
import { envelope } from '../rest/operation.js'
import { epochSeconds } from '../rest/parameters.js'
import { nodeStarting, refuseOtherMethods } from '../rest/problem.js'
import { validator } from '../rest/serve-operation.js'
import { MAX_QUERY_BYTES } from '../sql/guard.js'
import { asOfText } from '../sql/sql-routes.js'
import { int, text } from '../views/field-formats.js'
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS } from './export-formats.js'
import { EXPORT_VIEWS, type ExportView } from './export-query.js'
import type { ExportRequest, ExportService } from './export-service.js'

const MAX_PAIRS = 1_000
const MAX_CHAINS = 100
/** A client that takes no byte for this long is cut off: others wait for their turn. */
const STALLED_MS = 60_000

const oneOf = <Name extends string>(names: readonly Name[], options: object) =>
  Type.Union(
    names.map((name) => Type.Literal(name)),
    options,
  )

const list = (what: string, maxItems: number) =>
  Type.Optional(Type.Array(text, { minItems: 1, maxItems, description: what }))

const Filter = {
  chains: list('Only these chains', MAX_CHAINS),
  pair_ids: list('Only these pairs, each as <pair_address>-<chain>', MAX_PAIRS),
  interval: Type.Optional(oneOf(INTERVALS, { description: 'Only candles of this interval' })),
  from_time: Type.Optional(epochSeconds('Start time, inclusive')),
  to_time: Type.Optional(epochSeconds('End time, inclusive')),
  finalized: Type.Optional(Type.Boolean({ default: false, description: 'Only what no reorg can change any more' })),
}

const view = (example: ExportView) => oneOf(EXPORT_VIEWS, { description: 'The view to export', examples: [example] })

const Body = Type.Object({
  view: Type.Optional(view('pairs')),
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_QUERY_BYTES,
      description: 'A SELECT over the views, instead of `view`',
    }),
  ),
  format: Type.Optional(oneOf(EXPORT_FORMAT_NAMES, { default: 'parquet', description: 'Format of the file' })),
  ...Filter,
  date: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      description: 'Only this day (UTC) of one chain, without the column chain: a file of a folder chain=…/date=…',
    }),
  ),
})

const PartitionsBody = Type.Object({ view: view('trades'), ...Filter })

const none = { params: Type.Object({}), query: Type.Object({}), envelope: false }

export const EXPORT = {
  ...none,
  id: 'exportFile',
  method: 'POST',
  path: '/v2/export',
  costCu: 500,
  body: Body,
  otherTypes: EXPORT_FORMAT_NAMES.map((name) => EXPORT_FORMATS[name].type.split(';')[0] ?? ''),
  summary: 'Export a view or a query as a file of any size. X-As-Of has the seq of each chain that it includes',
} as const

export const EXPORT_PARTITIONS = {
  ...none,
  id: 'exportPartitions',
  method: 'POST',
  path: '/v2/export/partitions',
  costCu: 50,
  body: PartitionsBody,
  summary: 'Days of each chain in an export: the files of a partitioned folder',
  data: Type.Object({
    partitions: Type.Array(
      Type.Object({
        ...{ chain: text, date: text, rows: int },
        hash: Type.String({ description: 'Of all rows, for a day that a reorg can still change; 0 for the others' }),
      }),
    ),
  }),
} as const

export type ExportRouteDeps = AdmissionDeps & { exports: ExportService; envelope: 'spec' | 'always' }

export function addExportRoutes(app: FastifyInstance, deps: ExportRouteDeps): void {
  const checkBody = validator(Body, 'body')
  const checkPartitions = validator(PartitionsBody, 'body')
  const accessOf = new WeakMap<FastifyRequest, Access>()
  const admit = (costCu: number) => async (request: FastifyRequest, reply: FastifyReply) => {
    accessOf.set(request, admitKey(deps, keyIn(request), costCu, reply))
  }

  refuseOtherMethods(app, EXPORT.path, 'POST')
  app.post(EXPORT.path, { onRequest: admit(EXPORT.costCu) }, async (request, reply) => {
    const access = accessOf.get(request)
    if (access === undefined) throw nodeStarting()
    deps.exports.allow(access.plan)
    const asked = checkBody(request.body) as ExportRequest
    const { format = 'parquet', view = 'export' } = asked
    const { body, asOf } = await deps.exports.start(access, asked, () => !request.raw.socket.destroyed)
    charge(deps, access, EXPORT, reply)
    reply.raw.setTimeout(STALLED_MS, () => {
      if (reply.raw.writableNeedDrain) reply.raw.destroy()
    })
    return reply
      .headers({ 'x-as-of': asOfText(asOf), 'cache-control': 'no-store' })
      .header('content-disposition', `attachment; filename="${view}.${format}"`)
      .type(EXPORT_FORMATS[format].type)
      .send(body)
  })

  refuseOtherMethods(app, EXPORT_PARTITIONS.path, 'POST')
  app.post(EXPORT_PARTITIONS.path, { onRequest: admit(EXPORT_PARTITIONS.costCu) }, async (request, reply) => {
    const access = accessOf.get(request)
    if (access === undefined) throw nodeStarting()
    deps.exports.allow(access.plan)
    const asked = checkPartitions(request.body) as ExportRequest
    const data = { partitions: await deps.exports.partitions(access, asked) }
    charge(deps, access, EXPORT_PARTITIONS, reply)
    reply.header('cache-control', 'no-store')
    return deps.envelope === 'always' || request.headers['x-envelope'] === 'always' ? envelope(data) : data
  })
}
