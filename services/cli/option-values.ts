/** `--from` and `--to`: an offset, or a chain time. */
import type { TInteger, TNumber } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../core/domain/errors.js'
import type { EventLog } from '../core/log/port.js'

export type When = { kind: 'offset'; offset: number } | { kind: 'time'; ms: number }

export function parseWhen(name: string, text: string): When {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return { kind: 'offset', offset: Number(text) }
  if (/^@\d{1,12}$/.test(text)) return { kind: 'time', ms: Number(text.slice(1)) * 1000 }
  // Without a zone a time would mean another moment on another machine.
  const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)
  const zoned = /T/.test(text) && !/(Z|[+-]\d{2}:\d{2})$/.test(text) ? `${text}Z` : text
  const ms = iso ? Date.parse(zoned) : Number.NaN
  if (!Number.isNaN(ms)) return { kind: 'time', ms }
  throw new ConfigError({
    code: 'when_invalid',
    what: `${name} is neither an offset nor a time`,
    expected: 'an offset (1200), a time in UTC (2024-01-05T12:00) or epoch seconds (@1704412800)',
    got: JSON.stringify(text),
  })
}

export async function offsetOf(log: EventLog, topic: string, when: When): Promise<number> {
  return when.kind === 'offset' ? when.offset : await log.offsetAt(topic, when.ms)
}

/** Held to the rule its configuration key has. */
export function parseNumber(option: string, text: string, schema: TNumber | TInteger): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Value.Check(schema, value)) return value
  throw new ConfigError({
    code: 'option_invalid',
    what: `${option} is out of range`,
    expected: `a ${schema.type === 'integer' ? 'whole ' : ''}number from ${schema.minimum} to ${schema.maximum}`,
    got: `"${text.slice(0, 40)}"`,
  })
}

/** A count or an offset. */
export function parseWholeNumber(name: string, text: string, { from = 0, digits = 15 } = {}): number {
  const value = /^\d+$/.test(text) && text.length <= digits ? Number(text) : Number.NaN
  if (value >= from) return value
  const got = JSON.stringify(text)
  throw new ConfigError({ code: 'option_invalid', what: `${name} is not valid`, expected: 'a whole number', got })
}
