/** Formats of an export: ours by name, the engine's behind each. */
import type { ReadSettings } from '../../core/store/port.js'

export const EXPORT_FORMATS = {
  parquet: { engine: 'Parquet', type: 'application/vnd.apache.parquet' },
  arrow: { engine: 'Arrow', type: 'application/vnd.apache.arrow.file' },
  csv: { engine: 'CSVWithNames', type: 'text/csv; charset=utf-8; header=present' },
  jsonl: { engine: 'JSONEachRow', type: 'application/jsonl; charset=utf-8' },
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as ExportFormat[]

export const EXPORT_SETTINGS: ReadSettings = {
  // Measured on trades: 1.7 times as fast as the default level, a tenth larger.
  output_format_parquet_compression_method: 'zstd',
  output_format_compression_level: 1,
  // Hashes and amounts hardly repeat: looking for repeats up to 1 MB of them costs half of the time.
  output_format_parquet_max_dictionary_size: 65_536,
  output_format_parquet_write_bloom_filter: 0,
  // What the engine holds in memory while it writes.
  output_format_parquet_row_group_size: 100_000,
}

export type Column = { name: string; type: string }

const TEXT = /^(LowCardinality\()?(Nullable\()?String\)*$/
const TIME = /^(Nullable\()?DateTime(\('[^']*'\))?\)*$/

/** A spreadsheet runs a cell that begins with one of these. */
const RUNNING = ['=', '+', '-', '@', '\t', '\r']
const NUMBER = '^[+-]?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$'

/** The query with its columns changed where the format would otherwise write something else than meant. */
export function fitToFormat(sql: string, columns: readonly Column[], format: ExportFormat): string {
  const changed = columns.map(({ name, type }) => {
    const quoted = `\`${name.replace(/[\\`]/g, '\\$&')}\``
    if (format === 'csv' && TEXT.test(type)) return `${safeCell(quoted)} AS ${quoted}`
    // As a plain number of seconds otherwise.
    if (format === 'arrow' && TIME.test(type)) return `toDateTime64(${quoted}, 3, 'UTC') AS ${quoted}`
    return undefined
  })
  if (changed.every((one) => one === undefined)) return sql
  const all = changed.map((one, at) => one ?? `\`${columns[at]?.name.replace(/[\\`]/g, '\\$&')}\``)
  return `SELECT ${all.join(', ')} FROM (${sql})`
}

const safeCell = (cell: string) =>
  `if(substring(${cell}, 1, 1) IN (${RUNNING.map(literal).join(', ')}) AND NOT match(${cell}, ${literal(NUMBER)}), concat('''', ${cell}), ${cell})`

const isNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/

/** The same for a cell written here. */
export function safeCellText(text: string): string {
  return RUNNING.includes(text.slice(0, 1)) && !isNumber.test(text) ? `'${text}` : text
}

export function literal(text: string): string {
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`
}
