import { type TSchema, Type } from '@sinclair/typebox'

/** The interface's wrapping of a success body. */
export function envelopeSchema(data: TSchema): TSchema {
  return Type.Object({ status: Type.Integer(), msg: Type.String(), data_type: Type.Integer(), data })
}

export function envelope(data: unknown, msg = 'SUCCESS') {
  return { status: 1, msg, data_type: 1, data }
}
