import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { ChainDirectory } from '../chain-directory.js'
import type { HistorySources } from '../history/hot/hot-history.js'
import type { LaunchWallets } from '../history/launch-wallets.js'
import type { SmartWallets } from '../history/smart-wallets.js'
import type { StoredSignals } from '../history/stored-signals.js'
import type { WalletHistory } from '../history/wallet-trades.js'
import type { PageFile } from './page-files.js'

/** Dependencies of every operation. */
export type OperationContext = HistorySources & {
  chains: ChainDirectory
  wallets: WalletHistory
  smart: SmartWallets
  signals: StoredSignals
  launches: LaunchWallets
  /** Call it before reading rows of which memory does not hold the unflushed part. */
  flush(chain: string): Promise<void>
}

/** The result of an operation: data, or why there is none. */
export type Answer<Data> = {
  data: Data
  /** Chains the response covers: their chain time becomes X-As-Of. */
  chains: readonly string[]
  /** X-Reason: why data is empty or null. */
  reason?: string
  /** Replaces SUCCESS in the envelope. */
  msg?: string
  /** Ids whose chain is not indexed, as they were sent: `unknown_ids` of the envelope. */
  unknownIds?: readonly string[]
  /** The range it covers is final: only an epoch or a token's name can change it. */
  isClosed?: boolean
  /** The same request may soon get another answer, though no chain has changed. */
  isProvisional?: boolean
  /** False: the same request gets another answer, though no chain has changed. Missing: always true. */
  holdsWhile?: () => boolean
}

/** One REST operation. Validation, serialisation, cost and documentation derive from this declaration. */
export type Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Data extends TSchema = TSchema,
> = {
  id: string
  method: 'GET' | 'POST'
  /** With `{name}` for path parameters. */
  path: string
  /** Other paths with the same parameters and response. */
  aliases?: readonly string[]
  summary: string
  costCu: number
  /** Whether the body is wrapped by default. */
  envelope: boolean
  params: Params
  query: Query
  body?: Body
  data: Data
  /** May wait for the store: counts towards its key's history queries. */
  readsStore?: true
  /** Its items can be had as a file. */
  file?: PageFile
  /** Content types of the answer beside JSON. */
  otherTypes?: readonly string[]
  /** Data is null for an unknown token or pair. */
  nullable?: true
  /** Takes a list of ids, and answers even if it does not know the chain of some. */
  isBatch?: true
  handle(
    context: OperationContext,
    input: { params: Static<Params>; query: Static<Query>; body: Static<Body> },
  ): Answer<unknown> | Promise<Answer<unknown>>
}

/** Types `handle` by the declared schemas; the list of operations erases them. */
export function operation<Params extends TObject, Query extends TObject, Body extends TSchema, Data extends TSchema>(
  declared: Operation<Params, Query, Body, Data>,
): Operation {
  return declared as unknown as Operation
}

/** The envelope around a success body. */
export function envelopeSchema(operation: Pick<Operation, 'data' | 'isBatch'>): TSchema {
  const { data } = operation
  return Type.Object({
    ...{ status: Type.Integer(), msg: Type.String(), data_type: Type.Integer(), data },
    ...besideData(operation).properties,
  })
}

/** Members of the envelope that only some operations have. */
export function besideData({ isBatch }: Pick<Operation, 'isBatch'>): TObject {
  return Type.Object(isBatch === true ? { unknown_ids: UnknownIds } : {})
}

const UnknownIds = Type.Optional(
  Type.Array(Type.String(), { description: 'Ids whose chain is not indexed; missing if there are none' }),
)

export function envelope(data: unknown, msg = 'SUCCESS', unknownIds: readonly string[] = []) {
  return { status: 1, msg, data_type: 1, data, ...(unknownIds.length === 0 ? {} : { unknown_ids: unknownIds }) }
}
