/** Code, storage and trials at a block, all requests of a round in one batch. */
import type { StateRequest } from '../../../decode/evm/risk/inspect-token.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import type { NodeFault } from '../../nodes/node-fault.js'
import type { RpcRequest } from '../../nodes/transport.js'
import type { Header } from '../chain-reader.js'
import { createAtBlock, explained, VANISHED_PATIENCE } from './at-block.js'
import { isBytes } from './hex.js'

export interface StateFetcher {
  /** In order; null: reverted, or the node cannot answer such a request. */
  state(requests: readonly StateRequest[], at: Header, asking: Asking): Promise<(string | null)[]>
}

export function createStateFetcher(pool: EndpointPool, chain: string): StateFetcher {
  const atBlock = createAtBlock(pool, chain)
  return {
    state(requests, at, asking) {
      const patient = { ...asking, patience: VANISHED_PATIENCE }
      return pool.attempt(patient, async (endpoint) => {
        const outcomes = await atBlock(endpoint, (block) => requests.map((one) => rpcOf(one, block)), at, patient)
        return outcomes.map((outcome) => {
          if (outcome.ok) return isBytes(outcome.result) ? outcome.result.toLowerCase() : null
          if (isAboutTheRequest(outcome.fault)) return null
          throw explained(outcome.fault, endpoint, at, chain)
        })
      })
    },
  }
}

function rpcOf(request: StateRequest, block: unknown): RpcRequest {
  switch (request.kind) {
    case 'code':
      return { method: 'eth_getCode', params: [request.address, block] }
    case 'storage':
      return { method: 'eth_getStorageAt', params: [request.address, request.slot, block] }
    case 'call':
      return { method: 'eth_call', params: [{ to: request.to, data: request.data }, block] }
    case 'trial':
      return { method: 'eth_call', params: [request.call, block, request.overrides] }
  }
}

const isAboutTheRequest = ({ kind }: NodeFault): boolean =>
  kind === 'reverted' || kind === 'invalid' || kind === 'unsupported' || kind === 'too_wide' || kind === 'node_error'
