/** Numbers of the command line. */
import type { TInteger, TNumber } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../core/domain/errors.js'

/** Held to the rule its configuration key has. */
export function readNumber(option: string, text: string, schema: TNumber | TInteger): number {
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
export function wholeNumber(name: string, text: string, { from = 0, digits = 15 } = {}): number {
  const value = /^\d+$/.test(text) && text.length <= digits ? Number(text) : Number.NaN
  if (value >= from) return value
  const got = JSON.stringify(text)
  throw new ConfigError({ code: 'option_invalid', what: `${name} is not valid`, expected: 'a whole number', got })
}
