/**
 * `/v2/operator/…`: what only the operator of a server may see. Declared like operations; they need a key of plan operator,
 * except the history, which names no key, client or node.
 */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { type KeyRecord, type KeyStore, monthOf } from '../../core/keys/key-store.js'
import type { MetricsText } from '../../core/runtime/metrics.js'
import type { Store } from '../../core/store/port.js'
import { type AdmissionDeps, admitKey, charge, keyIn } from '../rest/admission.js'
import { envelope } from '../rest/operation.js'
import { limitOf } from '../rest/parameters.js'
import { RequestError, refuseOtherMethods } from '../rest/problem.js'
import { queryValidator } from '../rest/serve-operation.js'
import type { StatusReport } from '../status-report.js'
import { fieldsOf, flag, int, text } from '../views/field-formats.js'
import { newestLetters, type ReadableLog, rawText } from './dead-letters.js'
import { readSamples, sumOf } from './metric-samples.js'
import { readSizes } from './storage.js'
import { createSystemHistory, SAMPLE_S } from './system-history.js'

const number = Type.Number()
/** Null: none, or no limit. */
const intOrNull = Type.Unsafe<number | null>({ type: ['integer', 'null'] })
const numberOrNull = Type.Unsafe<number | null>({ type: ['number', 'null'] })
const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
const LETTERS = { max: 200, standard: 50 }
/** Of a raw form; the command `dextape dead show` prints all of it. */
const MAX_RAW_CHARACTERS = 20_000
const OPERATOR_PLAN = 'operator'

const declare = <Query extends TObject, Data extends TSchema>(
  id: string,
  given: { path: string; summary: string; query: Query; data: Data },
) => ({
  ...{ id, method: 'GET' as const, costCu: 0, envelope: true, params: Type.Object({}) },
  ...given,
})

const KEYS = declare('operatorKeys', {
  path: '/v2/operator/keys',
  summary: 'API keys with their plan, state and usage, without the keys themselves',
  query: Type.Object({}),
  data: Type.Array(
    Type.Object({
      ...fieldsOf(['id', 'name', 'plan', 'opens', 'state'], text),
      ...{ requests_per_s: numberOrNull, cu_per_month: numberOrNull, cu_this_month: number },
      ...{ created_at: int, expires_at: intOrNull, revoked_at: intOrNull },
    }),
  ),
})

const DEAD_LETTERS = declare('operatorDeadLetters', {
  path: '/v2/operator/dead_letters',
  summary: 'Newest dead letters with their reason and raw form',
  query: Type.Object({
    chain: Type.Optional(Type.String({ maxLength: 64, description: 'Only this chain, or "unknown"' })),
    limit: limitOf('letters', LETTERS),
  }),
  data: Type.Array(
    Type.Object({
      ...{ chain: text, offset: int, reason: text, detail: text, source: text, block_number: intOrNull },
      ...{ position: textOrNull, time: int, raw_bytes: int, raw: text },
    }),
  ),
})

const NODES = declare('operatorNodes', {
  path: '/v2/operator/nodes',
  summary: 'Sources of the chains, their nodes with health, and what is unreachable',
  query: Type.Object({}),
  data: Type.Object({
    sources: Type.Array(Type.Object({ chain: text, source: text, source_age_s: intOrNull, stopped: textOrNull })),
    nodes: Type.Array(
      Type.Object({ chain: text, node: text, healthy: flag, head: int, requests: int, errors: int, latency_s: number }),
    ),
    away: Type.Array(Type.Object({ part: text, where: text, since: int, reason: text })),
  }),
})

const STORAGE = declare('operatorStorage', {
  path: '/v2/operator/storage',
  summary: 'Sizes of the log by topic and of the store by table',
  query: Type.Object({}),
  data: Type.Object({
    log: Type.Array(Type.Object({ topic: text, records: int, bytes: int })),
    store: Type.Array(Type.Object({ table: text, rows: int, bytes: int })),
  }),
})

const HISTORY = declare('operatorHistory', {
  path: '/v2/operator/history',
  summary: 'The last hour of this process: rates, lag, clients and sizes',
  query: Type.Object({}),
  data: Type.Object({
    interval_s: int,
    operator: Type.Boolean({ description: 'Whether this key may use the other operator operations' }),
    samples: Type.Array(
      Type.Object({
        ...{ time: int, requests_per_s: number, sockets: int, subscriptions: int, unread_mb: number },
        ...{ latency_p95_ms: numberOrNull, log_bytes: int, store_bytes: int },
        chains: Type.Array(
          Type.Object({
            ...{ chain: text, head: int, lag_s: int, blocks_per_s: number, swaps_per_s: number },
            ...{ reorgs: int, dead_letters: int },
          }),
        ),
      }),
    ),
  }),
})

export const OPERATOR_OPERATIONS = [KEYS, DEAD_LETTERS, NODES, STORAGE, HISTORY] as const

export type OperatorDeps = AdmissionDeps &
  ReadableLog & {
    keys: Pick<KeyStore, 'list' | 'spentCu'>
    store: Pick<Store, 'query'>
    status: () => Promise<StatusReport>
    metricsText: MetricsText
    logger: Parameters<typeof createSystemHistory>[0]['logger']
    nowMs: () => number
  }

export function addOperatorRoutes(app: FastifyInstance, deps: OperatorDeps): void {
  const { log, store, nowMs, status, metricsText: metrics, logger } = deps
  const sizes = () => readSizes(log, store)
  const history = createSystemHistory({ status, metrics, sizes, nowMs, logger })
  history.start()
  app.addHook('onClose', async () => history.stop())

  serve(app, deps, KEYS, async () => deps.keys.list().map((record) => describeKey(record, deps)))
  serve(app, deps, DEAD_LETTERS, async (query) => {
    const { chain, limit = LETTERS.standard } = query as { chain?: string; limit?: number }
    return (await newestLetters(deps, chain, limit)).map(({ offset, letter: { raw, at, ...letter } }) => ({
      ...letter,
      ...{ offset, time: at, raw_bytes: raw.length, raw: rawText(raw).slice(0, MAX_RAW_CHARACTERS) },
    }))
  })
  serve(app, deps, NODES, async () => {
    const { chains, away } = await status()
    return { sources: chains, nodes: await readNodes(metrics), away }
  })
  serve(app, deps, STORAGE, sizes)
  serve(app, deps, HISTORY, async (_query, plan) => ({
    ...{ interval_s: SAMPLE_S, operator: plan === OPERATOR_PLAN, samples: history.samples() },
  }))
}

type Declared = (typeof OPERATOR_OPERATIONS)[number]

function serve(
  app: FastifyInstance,
  deps: OperatorDeps,
  declared: Declared,
  read: (query: unknown, plan: string) => Promise<unknown>,
) {
  const checkQuery = queryValidator(declared.query)
  refuseOtherMethods(app, declared.path, 'GET')
  app.get(declared.path, async (request, reply) => {
    const access = admitKey(deps, keyIn(request), declared.costCu, reply)
    if (access.plan !== OPERATOR_PLAN && declared !== HISTORY)
      throw new RequestError(
        403,
        'operator_only',
        `This operation needs a key of plan operator; this key has plan ${access.plan}. Create one: dextape keys create --name ops --plan operator.`,
      )
    const data = await read(checkQuery(request.query), access.plan)
    charge(deps, access, declared, reply)
    return reply.header('cache-control', 'no-store').send(envelope(data))
  })
}

function describeKey(record: KeyRecord, { keys, nowMs }: Pick<OperatorDeps, 'keys' | 'nowMs'>) {
  const seconds = (ms: number | null) => (ms === null ? null : Math.floor(ms / 1000))
  const isExpired = record.expiresAtMs !== null && record.expiresAtMs <= nowMs()
  return {
    ...{ id: record.id, name: record.name, plan: record.plan, opens: record.only ?? 'everything' },
    state: record.revokedAtMs !== null ? 'revoked' : isExpired ? 'expired' : 'valid',
    ...{ requests_per_s: record.ratePerS, cu_per_month: record.quotaCu },
    cu_this_month: keys.spentCu(record.id, monthOf(nowMs())),
    created_at: Math.floor(record.createdAtMs / 1000),
    ...{ expires_at: seconds(record.expiresAtMs), revoked_at: seconds(record.revokedAtMs) },
  }
}

async function readNodes(metrics: MetricsText) {
  const samples = readSamples(await metrics.text())
  return samples
    .filter(({ name }) => name === 'dextape_node_healthy')
    .map(({ labels: { chain = '', node = '' }, value }) => {
      const of = (name: string) => sumOf(samples, name, { chain, node })
      return {
        ...{ chain, node, healthy: value === 1, head: of('dextape_node_head_blocks') },
        ...{ requests: of('dextape_node_requests_total'), errors: of('dextape_node_errors_total') },
        latency_s: of('dextape_node_latency_seconds'),
      }
    })
}
