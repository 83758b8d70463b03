/** A number of the command line, held to the rule its configuration key has. */
import type { TInteger, TNumber } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../core/domain/errors.js'

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
