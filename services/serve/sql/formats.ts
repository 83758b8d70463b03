/** Formats of an answer: ours by name, the engine's behind each. */
export const FORMATS = {
  json: { engine: 'JSON', type: 'application/json; charset=utf-8' },
  csv: { engine: 'CSVWithNames', type: 'text/csv; charset=utf-8; header=present' },
  parquet: { engine: 'Parquet', type: 'application/vnd.apache.parquet' },
  arrow: { engine: 'Arrow', type: 'application/vnd.apache.arrow.file' },
  pretty: { engine: 'PrettyCompactMonoBlock', type: 'text/plain; charset=utf-8' },
} as const

export type Format = keyof typeof FORMATS

export const FORMAT_NAMES = Object.keys(FORMATS) as Format[]

/** How values are written: exact, the same in every run, and without colours. */
export const OUTPUT_SETTINGS = {
  // A plain JSON.parse corrupts integers above 2^53 and decimals.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_write_statistics: 0,
  output_format_pretty_color: 0,
  output_format_pretty_row_numbers: 0,
  output_format_pretty_max_rows: 1_000_000,
  output_format_pretty_highlight_digit_groups: 0,
  output_format_pretty_single_large_number_tip_threshold: 0,
}
