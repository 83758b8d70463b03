import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Store } from '../../core/store/port.js'
import type { ChainDirectory } from '../chain-directory.js'

/** What every operation may use. */
export type OperationContext = { chains: ChainDirectory; store: Store }

/** What an operation answers: data found, or why there is none. */
export type Answer<Data> = {
  data: Data
  /** Chains the answer speaks of: their "now" becomes X-As-Of. */
  chains: readonly string[]
  /** X-Reason: why data is empty or full of nulls. */
  reason?: string
  /** Replaces SUCCESS in the envelope. */
  msg?: string
}

/** One REST operation, declared once: validation, serialisation, cost and documentation come from this. */
export type Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Data extends TSchema = TSchema,
> = {
  id: string
  method: 'GET' | 'POST'
  /** With `{name}` for path parameters, as the interface writes it. */
  path: string
  /** Other paths of the same parameters that answer the same. */
  aliases?: readonly string[]
  summary: string
  costCu: number
  /** Whether the body is wrapped without being asked to. */
  envelope: boolean
  params: Params
  query: Query
  body?: Body
  data: Data
  /** Data is null for a token or pair nobody described. */
  nullable?: true
  handle(
    context: OperationContext,
    input: { params: Static<Params>; query: Static<Query>; body: Static<Body> },
  ): Answer<unknown> | Promise<Answer<unknown>>
}

/** Keeps each part's own type for `handle` while the list of operations forgets them. */
export function operation<Params extends TObject, Query extends TObject, Body extends TSchema, Data extends TSchema>(
  declared: Operation<Params, Query, Body, Data>,
): Operation {
  return declared as unknown as Operation
}

/** The interface's wrapping of a success body. */
export function envelopeSchema(data: TSchema): TSchema {
  return Type.Object({ status: Type.Integer(), msg: Type.String(), data_type: Type.Integer(), data })
}

export function envelope(data: unknown, msg = 'SUCCESS') {
  return { status: 1, msg, data_type: 1, data }
}
