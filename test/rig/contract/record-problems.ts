/** Compares records with the fields of the interface. */
import type { Field, FieldType } from '../../contract/interface/fields.js'

export const DECIMAL = /^-?\d+(\.\d+)?$/

const isDecimal = (value: unknown): boolean => typeof value === 'string' && DECIMAL.test(value)
const isWhole = (value: unknown): boolean => Number.isInteger(value)
const isNumber = (value: unknown): boolean => typeof value === 'number'

/** Separates seconds from milliseconds: in seconds this is the year 2286, in milliseconds 1970. */
const SECONDS_BELOW = 1e10

const CHECKS: Record<FieldType, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  decimal: (value) => value === '' || isDecimal(value),
  decimalOrNull: (value) => value === null || isDecimal(value),
  number: isNumber,
  numberOrNull: (value) => value === null || isNumber(value),
  whole: isWhole,
  wholeOrNull: (value) => value === null || isWhole(value),
  time: (value) => isWhole(value) && Number(value) >= 0 && Number(value) < SECONDS_BELOW,
  timeMs: (value) => isWhole(value) && Number(value) > SECONDS_BELOW,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  list: (value) => Array.isArray(value),
  tags: (value) => value === null || (Array.isArray(value) && value.every((tag) => typeof tag === 'string')),
  interval: (value) => value === 's1' || isWhole(value),
}

/** One line per field that is missing or has the wrong type in any record, with the first such value. */
export function fieldProblems(records: readonly object[], fields: readonly Field[]): string[] {
  if (records.length === 0) return ['there are no records']
  return fields.flatMap(({ name, type }) => {
    const wrong = records.map((record) => Reflect.get(record, name) as unknown).filter((value) => !CHECKS[type](value))
    if (wrong.length === 0) return []
    const first = (JSON.stringify(wrong[0]) ?? 'nothing').slice(0, 100)
    return [`${name}: expected ${type}, got ${first} in ${wrong.length} of ${records.length} records`]
  })
}

/** Like `fieldProblems`, with one more line per field that is not in the interface. */
export function recordProblems(records: readonly object[], fields: readonly Field[]): string[] {
  const names = new Set(records.flatMap((record) => Object.keys(record)))
  for (const { name } of fields) names.delete(name)
  return [...fieldProblems(records, fields), ...[...names].map((name) => `${name}: not a field of the interface`)]
}
