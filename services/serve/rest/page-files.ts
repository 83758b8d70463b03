/** A page of candles or events as a file: `format=csv|parquet|arrow`, or the `Accept` header. */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReadSettings } from '../../core/store/port.js'
import { EXPORT_FORMATS, literal, safeCellText } from '../export/export-formats.js'
import { createTurns } from '../history/query-lanes.js'
import type { EncodedAnswer } from './answer-cache.js'

/** What of an answer becomes rows. */
export type PageFile = {
  /** The member of `data` that has them. */
  rows: string
  item: TObject
  /** Decimal texts that are doubles. The others stay text: a double would lose digits. */
  doubles: readonly string[]
}

const FORMATS = ['csv', 'parquet', 'arrow'] as const
type Format = (typeof FORMATS)[number]

export const PAGE_FORMAT = Type.Optional(
  Type.Union([Type.Literal('json'), ...FORMATS.map((name) => Type.Literal(name))], {
    default: 'json',
    description: 'Format of the answer. Others than json have the items alone, and X-Next-Cursor for the next page',
  }),
)

const mediaType = (format: Format) => EXPORT_FORMATS[format].type.split(';')[0] ?? ''

export const PAGE_TYPES = FORMATS.map(mediaType)

/** Encodes rows by the engine, in turn: SELECT from a literal. */
export type Encode = (rows: readonly Row[], file: PageFile, format: Format) => Promise<Uint8Array>

type Row = Record<string, unknown>

const LANE = { atOnce: 1, mostWaiting: 100 }
/** Not readonly, which allows no table functions: the text is ours. */
const SETTINGS: ReadSettings = {
  ...{ max_threads: 1, max_query_size: 16_777_216, max_execution_time: 10 },
  output_format_parquet_compression_method: 'zstd',
}

/** Undefined: JSON. The parameter counts more than the header, of which the first known type counts. */
export function pageFormat({ query, headers }: Pick<FastifyRequest, 'query' | 'headers'>): Format | undefined {
  const { format } = query as { format?: unknown }
  if (format !== undefined) return FORMATS.find((name) => name === format)
  for (const part of (headers.accept ?? '').split(',')) {
    const type = part.split(';')[0]?.trim().toLowerCase()
    if (type === 'application/json' || type === '*/*') return undefined
    const named = FORMATS.find((name) => mediaType(name) === type)
    if (named !== undefined) return named
  }
  return undefined
}

export function createPageEncoder(read: (sql: string, settings: ReadSettings) => Promise<Uint8Array>): Encode {
  const inTurn = createTurns(LANE)
  return async (rows, file, format) => {
    if (format === 'csv') return Buffer.from(csvOf(rows, file))
    // The engine takes no empty text.
    const lines = rows.map((row) => JSON.stringify(typedRow(row, file))).join('\n')
    const structure = columnsOf(file).map(({ name, type }) => `\`${name}\` ${type}`)
    const sql = `SELECT * FROM format(JSONEachRow, ${literal(structure.join(', '))}, ${literal(lines || '{}')}) LIMIT ${rows.length}`
    return inTurn(() => read(`${sql}\nFORMAT ${EXPORT_FORMATS[format].engine}`, SETTINGS))
  }
}

export type Page = { bytes: Uint8Array; nextCursor: unknown; format: Format; rows: string }

/** Undefined: the answer is sent as JSON. */
export async function pageOf(
  request: FastifyRequest,
  { body }: EncodedAnswer,
  file: PageFile | undefined,
  encode: Encode,
): Promise<Page | undefined> {
  const format = file === undefined ? undefined : pageFormat(request)
  if (file === undefined || format === undefined) return undefined
  const answer = JSON.parse(body.toString()) as Row
  const data = (answer.data_type === undefined ? answer : answer.data) as Row
  const bytes = await encode(data[file.rows] as Row[], file, format)
  return { bytes, nextCursor: data.next_cursor, format, rows: file.rows }
}

export function sendPage(reply: FastifyReply, { bytes, nextCursor, format, rows }: Page): FastifyReply {
  if (typeof nextCursor === 'string') reply.header('x-next-cursor', nextCursor)
  return reply
    .headers({ 'cache-control': 'private, no-cache', vary: 'accept' })
    .header('content-disposition', `attachment; filename="${rows}.${format}"`)
    .type(EXPORT_FORMATS[format].type)
    .send(Buffer.from(bytes))
}

function columnsOf({ item, doubles }: PageFile): { name: string; type: string }[] {
  return Object.entries(item.properties).map(([name, schema]) => ({ name, type: engineType(name, schema, doubles) }))
}

function engineType(name: string, { type }: TSchema, doubles: readonly string[]): string {
  if (doubles.includes(name)) return 'Nullable(Float64)'
  if (type === 'integer') return TIMES.has(name) ? "DateTime64(3, 'UTC')" : 'Int64'
  return type === 'boolean' ? 'Bool' : 'Nullable(String)'
}

const TIMES = new Set(['time', 'tx_time'])

function typedRow(row: Row, { item, doubles }: PageFile): Row {
  const entries = Object.keys(item.properties).map((name) => {
    const value = row[name] ?? null
    if (value === null) return [name, value]
    if (doubles.includes(name)) return [name, Number(value)]
    // The engine would read a number as milliseconds.
    return [name, TIMES.has(name) ? new Date(Number(value) * 1000).toISOString().slice(0, 19).replace('T', ' ') : value]
  })
  return Object.fromEntries(entries)
}

function csvOf(rows: readonly Row[], { item }: PageFile): string {
  const names = Object.keys(item.properties)
  const lines = rows.map((row) => names.map((name) => cellOf(row[name])).join(','))
  return `${[names.join(','), ...lines].join('\n')}\n`
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const safe = safeCellText(value)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
