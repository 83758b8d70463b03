import { Type } from '@sinclair/typebox'

/** How many `things` an answer may hold: every list's `limit`, declared alike. */
export const limitOf = (things: string, { max, standard }: { max: number; standard: number }) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: max, default: standard, description: `Most ${things} in the answer` }),
  )
