/** A fault in an endpoint's words, with its name. */
import type { Blame } from './check-headers.js'
import type { Endpoint } from './endpoint.js'
import { NodeFault } from './node-fault.js'

export const blameOn =
  (endpoint: Pick<Endpoint, 'name'>, chain: string): Blame =>
  (kind, detail, block) =>
    new NodeFault({ kind, endpoint: endpoint.name, detail, chain, ...(block === undefined ? {} : { block }) })
