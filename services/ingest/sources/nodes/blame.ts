/** A fault in an endpoint's words, with its name. */
import type { Endpoint } from './endpoint.js'
import { type FaultKind, NodeFault } from './node-fault.js'

/** Makes the fault with the endpoint's name in it. */
export type Blame = (
  kind: Extract<FaultKind, 'lies' | 'lags' | 'unknown_block'>,
  detail: string,
  block?: number,
) => Error

export const blameOn =
  (endpoint: Pick<Endpoint, 'name'>, chain: string): Blame =>
  (kind, detail, block) =>
    new NodeFault({ kind, endpoint: endpoint.name, detail, chain, ...(block === undefined ? {} : { block }) })
