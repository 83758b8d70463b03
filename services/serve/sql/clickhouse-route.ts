/**
 * ClickHouse's HTTP interface, read-only, for clients that speak it: the key is the password, and queries pass the same guard.
 * Settings that a client sends are ignored, except those of the output's form.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../keys/key-gate.js'
import { admitKey, charge } from '../rest/admission.js'
import { RequestError, refuseOtherMethods } from '../rest/problem.js'
import { asRequestError } from '../rest/rest-server.js'
import { asSelect, encodeHello, isHello } from './client-statements.js'
import { asOfText, type SqlRouteDeps } from './sql-routes.js'

const PATH = '/clickhouse'
const QUERY = { id: 'clickhouse', costCu: 50 }

/** What the endpoint writes. Others may run scripts of the server or write elsewhere. */
const FORMATS = new Set([
  ...['JSON', 'JSONCompact', 'JSONEachRow', 'JSONCompactEachRow', 'JSONCompactEachRowWithNamesAndTypes', 'JSONColumns'],
  ...['JSONStrings', 'JSONCompactStrings', 'JSONStringsEachRow', 'JSONEachRowWithProgress', 'JSONColumnsWithMetadata'],
  ...[
    'CSV',
    'CSVWithNames',
    'CSVWithNamesAndTypes',
    'TSV',
    'TSVWithNames',
    'TSVWithNamesAndTypes',
    'TSVRaw',
    'TabSeparated',
  ],
  ...[
    'TabSeparatedWithNames',
    'TabSeparatedWithNamesAndTypes',
    'TabSeparatedRaw',
    'TabSeparatedRawWithNames',
    'Vertical',
  ],
  ...[
    'Native',
    'RowBinary',
    'RowBinaryWithNames',
    'RowBinaryWithNamesAndTypes',
    'Parquet',
    'Arrow',
    'ArrowStream',
    'Null',
  ],
  ...['Pretty', 'PrettyCompact', 'PrettyCompactMonoBlock', 'PrettyNoEscapes', 'PrettySpace', 'Markdown', 'Values'],
])

/** Form of values in the output. */
const OUTPUT = new Set([
  ...['date_time_output_format', 'output_format_json_quote_64bit_integers', 'output_format_json_quote_denormals'],
  ...['output_format_json_quote_64bit_floats', 'output_format_json_named_tuples_as_objects'],
  ...['output_format_native_encode_types_in_binary_format', 'output_format_arrow_compression_method'],
  ...['output_format_parquet_compression_method', 'output_format_csv_crlf_end_of_line', 'session_timezone'],
])

type Params = Record<string, string | string[] | undefined>

export function addClickhouseRoute(app: FastifyInstance, deps: SqlRouteDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error: FastifyError, _request, reply) =>
      sendFault(reply, asRequestError(error, deps.logger, PATH)),
    )
    scope.get(`${PATH}/ping`, async (_request, reply) => reply.type('text/plain').send('Ok.\n'))
    refuseOtherMethods(scope, `${PATH}/ping`, 'GET')
    for (const url of [PATH, `${PATH}/`]) {
      scope.route({ method: ['GET', 'POST'], url, handler: (request, reply) => answer(request, reply, deps) })
    }
  })
}

async function answer(request: FastifyRequest, reply: FastifyReply, deps: SqlRouteDeps): Promise<FastifyReply> {
  const params = request.query as Params
  const access = admitKey(deps, passwordOf(request, params), QUERY.costCu, reply)
  const body = typeof request.body === 'string' ? request.body : ''
  const text = [oneOf(params.query), body].filter((part) => part !== undefined && part !== '').join('\n')
  if (text === '') return reply.type('text/plain').send('Ok.\n')
  const wanted = oneOf(params.default_format) ?? String(request.headers['x-clickhouse-format'] ?? 'TabSeparated')
  const parameters = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    name.startsWith('param_') ? [[name.slice('param_'.length), oneOf(value) ?? '']] : [],
  )
  const protocol = Number(oneOf(params.client_protocol_version) ?? 0)
  if (isHello(text) && wanted === 'Native' && protocol > 0) return answerHello(access, reply, deps, protocol)
  const result = await deps.sql.run(access, {
    parameters: new Map(parameters),
    ...{ text: asSelect(text), formatOf: (clause) => allowedFormat(clause ?? wanted) },
    output: Object.fromEntries(Object.entries(params).flatMap(([name, value]) => outputSetting(name, oneOf(value)))),
  })
  charge(deps, access, QUERY, reply)
  return reply
    .headers({ 'x-as-of': asOfText(result.asOf), 'x-clickhouse-format': result.format, 'cache-control': 'no-store' })
    .headers({ 'x-clickhouse-timezone': 'UTC', 'x-clickhouse-summary': '{"read_rows":"0","read_bytes":"0"}' })
    .type('application/octet-stream')
    .send(Buffer.from(result.body))
}

async function answerHello(
  access: Access,
  reply: FastifyReply,
  deps: SqlRouteDeps,
  protocol: number,
): Promise<FastifyReply> {
  const text = 'SELECT version(), timezone()'
  const { body } = await deps.sql.run(access, { text, formatOf: () => 'JSONCompact' })
  const { data } = JSON.parse(Buffer.from(body).toString()) as { data: [[string, string]] }
  return reply.type('application/octet-stream').send(encodeHello(data[0], protocol))
}

/** In the places where clients of ClickHouse send a password. */
function passwordOf({ headers }: FastifyRequest, { password }: Params): string {
  const key = headers['x-clickhouse-key'] ?? headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  const [, encoded] = /^Basic (.+)$/i.exec(headers.authorization ?? '') ?? []
  if (encoded !== undefined) return /:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1] ?? ''
  return oneOf(password) ?? ''
}

const oneOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

function outputSetting(name: string, value: string | undefined): [string, string][] {
  return OUTPUT.has(name) && value !== undefined && /^[\w/+-]{1,40}$/.test(value) ? [[name, value]] : []
}

function allowedFormat(format: string): string {
  if (FORMATS.has(format)) return format
  throw new RequestError(400, 'sql_format', `The format ${format.slice(0, 60)} is not available here.`)
}

type EngineCode = readonly [code: number, name: string]

const DENIED: EngineCode = [497, 'ACCESS_DENIED']
const NO_LOGIN: EngineCode = [516, 'AUTHENTICATION_FAILED']
const TOO_MANY: EngineCode = [202, 'TOO_MANY_SIMULTANEOUS_QUERIES']
const INVALID: EngineCode = [62, 'SYNTAX_ERROR']
const UNKNOWN: EngineCode = [1002, 'UNKNOWN_EXCEPTION']

/** Clients tell faults apart by the engine's codes. */
const ENGINE_CODES: Readonly<Record<string, EngineCode>> = {
  ...{
    key_missing: NO_LOGIN,
    key_invalid: NO_LOGIN,
    key_expired: NO_LOGIN,
    sql_not_in_plan: DENIED,
    sql_refused: DENIED,
  },
  ...{ too_many_queries: TOO_MANY, rate_limited: TOO_MANY, store_busy: TOO_MANY, sql_format: [73, 'UNKNOWN_FORMAT'] },
  ...{ query_timeout: [159, 'TIMEOUT_EXCEEDED'], query_memory: [241, 'MEMORY_LIMIT_EXCEEDED'] },
  query_too_large: [396, 'TOO_MANY_ROWS_OR_BYTES'],
}

function sendFault(reply: FastifyReply, error: RequestError): FastifyReply {
  const [code, name] = ENGINE_CODES[error.code] ?? (error.status === 400 ? INVALID : UNKNOWN)
  return reply
    .code(error.status)
    .headers({ ...error.headers, 'x-clickhouse-exception-code': code })
    .type('text/plain; charset=utf-8')
    .send(`Code: ${code}. DB::Exception: ${error.message} (${name})\n`)
}
