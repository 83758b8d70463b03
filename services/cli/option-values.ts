/** Values of options and arguments: numbers, offsets and times. */
import type { TInteger, TNumber } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../core/domain/errors.js'

/** Checked against the schema of the configuration key that the option sets. */
export function parseNumber(option: string, text: string, schema: TNumber | TInteger): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Value.Check(schema, value)) return value
  const kind = schema.type === 'integer' ? 'a whole number' : 'a number'
  throw invalidOption(option, `${kind} from ${schema.minimum} to ${schema.maximum}`, text)
}

/** A count or an offset. */
export function parseWholeNumber(option: string, text: string, { from = 0, digits = 15 } = {}): number {
  const value = /^\d+$/.test(text) && text.length <= digits ? Number(text) : Number.NaN
  if (value >= from) return value
  throw invalidOption(option, 'a whole number', text)
}

export function parsePositiveNumber(option: string, text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw invalidOption(option, 'a number above 0', text)
}

export function invalidOption(option: string, expected: string, got: string): ConfigError {
  return new ConfigError({
    code: 'option_invalid',
    what: `${option} is not valid`,
    expected,
    got: JSON.stringify(got.slice(0, 40)),
  })
}

export type When = { kind: 'offset'; offset: number } | { kind: 'time'; ms: number }

const TIME = 'a time in UTC (2024-01-05T12:00) or epoch seconds (@1704412800)'

/** An offset or a chain time. */
export function parseWhen(option: string, text: string): When {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return { kind: 'offset', offset: Number(text) }
  if (/^@\d{1,12}$/.test(text)) return { kind: 'time', ms: Number(text.slice(1)) * 1000 }
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)
  // Without a zone the same text would be another moment on another machine.
  const zoned = /T/.test(text) && !/(Z|[+-]\d{2}:\d{2})$/.test(text) ? `${text}Z` : text
  const ms = isIso ? Date.parse(zoned) : Number.NaN
  if (!Number.isNaN(ms)) return { kind: 'time', ms }
  throw invalidWhen(option, `an offset (1200), ${TIME}`, text)
}

/** A chain time, in milliseconds. */
export function parseTime(option: string, text: string): number {
  const when = parseWhen(option, text)
  if (when.kind === 'time') return when.ms
  throw invalidWhen(option, TIME, text)
}

function invalidWhen(option: string, expected: string, got: string): ConfigError {
  return new ConfigError({ code: 'when_invalid', what: `${option} is not valid`, expected, got: JSON.stringify(got) })
}
