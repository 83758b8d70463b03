/** Requests about the state at a block: by its hash, or by its number where a node does not accept a hash. */
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { Outcome, RpcRequest } from '../../nodes/transport.js'
import type { Header } from '../chain-reader.js'
import { readHeader } from './fetch-headers.js'
import { toQuantity } from './hex.js'

/** `requestsOf`: the requests with this block parameter. */
export type AtBlock = (
  endpoint: Endpoint,
  requestsOf: (block: unknown) => RpcRequest[],
  at: Header,
  asking: Asking,
) => Promise<Outcome[]>

/** Nodes keep the state of at least this many blocks (geth: 128). A missing block older than that was pruned. */
const RECENT_BLOCKS = 120
export const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export function createAtBlock(pool: EndpointPool, chain: string): AtBlock {
  async function send(endpoint: Endpoint, requests: readonly RpcRequest[], asking: Asking): Promise<Outcome[]> {
    const { signal, urgent } = asking
    return endpoint.send(requests, { signal, urgent, timeoutMs: pool.timeoutMs(asking) })
  }

  async function checkNumber(endpoint: Endpoint, at: Header, asking: Asking): Promise<void> {
    const request = { method: 'eth_getBlockByNumber', params: [toQuantity(at.number), false] }
    const [outcome] = await send(endpoint, [request], asking)
    if (outcome === undefined || !outcome.ok) throw outcome?.fault ?? new Error('an outcome is missing')
    const blame = blameOn(endpoint, chain)
    const { hash } = readHeader(outcome.result, { number: at.number }, blame)
    if (hash !== at.hash) throw blame('unknown_block', `block ${at.number} is ${hash}, not ${at.hash}`, at.number)
  }

  return async (endpoint, requestsOf, at, asking) => {
    const { limits } = endpoint
    if (limits.callByHash !== false) {
      const outcomes = await send(endpoint, requestsOf({ blockHash: at.hash }), asking)
      if (outcomes.some(({ ok }) => ok)) limits.callByHash = true
      if (limits.callByHash === true || !outcomes.every(isRefusal)) return outcomes
    }
    const outcomes = await send(endpoint, requestsOf(toQuantity(at.number)), asking)
    if (outcomes.some(({ ok }) => ok)) {
      limits.callByHash = false
      // A number is verified by its hash.
      await checkNumber(endpoint, at, asking)
    }
    return outcomes
  }
}

const isRefusal = (outcome: Outcome): boolean =>
  !outcome.ok && (outcome.fault.kind === 'invalid' || outcome.fault.kind === 'unsupported')

/** The fault, named as pruned state where the block is too old for a node to have it. */
export function explained(fault: NodeFault, endpoint: Endpoint, at: Header, chain: string): NodeFault {
  const { kind, detail } = fault
  const isOld = endpoint.head !== null && at.number < endpoint.head.number - RECENT_BLOCKS
  if (kind !== 'pruned' && !(kind === 'unknown_block' && isOld)) return fault
  return new NodeFault({ kind: 'pruned', endpoint: endpoint.name, detail, chain, block: at.number })
}
