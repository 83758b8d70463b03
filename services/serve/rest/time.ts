import { Type } from '@sinclair/typebox'
import { badRequest } from './problem.js'

/** The end of the year 9999: milliseconds given for seconds are told so. */
const LAST_S = 253_402_300_799

export const epochSeconds = (what: string) =>
  Type.Integer({ minimum: 0, maximum: LAST_S, description: `${what}, epoch seconds` })

export function checkRange(fromS: number | undefined, toS: number | undefined): void {
  if (fromS === undefined || toS === undefined || fromS <= toS) return
  throw badRequest('range_invalid', `from_time ${fromS} is after to_time ${toS}.`)
}
