/** One slot's block or header, from whichever endpoint has it. */

import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool, Settle } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn, NodeFault } from '../../nodes/node-fault.js'
import { createSlots } from '../../nodes/request-queue.js'
import type { Commitment, SlotBlock, SlotHeader } from '../slot-block.js'
import { readBlock, readHeader } from './check-block.js'
import { blockRequest, headerRequest } from './requests.js'

export interface BlockFetcher {
  /** Null: the endpoint that was asked has none, which is a hint and no more. */
  glance(slot: number, asking: Asking): Promise<SlotBlock | null>
  /** Throws `unknown_block` where none of the endpoints has one before patience ends. */
  insist(slot: number, asking: Asking, wanted?: Wanted): Promise<SlotBlock>
  /** The same without transactions. */
  header(slot: number, asking: Asking, wanted?: Wanted): Promise<SlotHeader>
}

export type Wanted = {
  /** Only this very block. */
  hash?: string
  /** And with this parent, where it is known. */
  parentHash?: string
  /** The slot of a block that names it as its parent. */
  child?: number
}

/** At once, for each endpoint there is: the answers are large. */
export const MAX_IN_FLIGHT = 8

type Read<T> = (result: unknown, slot: number, blame: Blame) => T

export function createBlockFetcher(pool: EndpointPool, chain: string, commitment: Commitment): BlockFetcher {
  const places = createSlots(MAX_IN_FLIGHT * pool.endpoints.length)
  /** The first block that an endpoint has, where it told: what is older is asked of others first. */
  const firstOf = new Map<string, number>()

  function without(slot: number, asking: Asking): Asking {
    const avoid = pool.endpoints.filter(({ name }) => slot < (firstOf.get(name) ?? 0))
    return { ...asking, maxBatch: 1, avoid: [...avoid, ...(asking.avoid ?? [])] }
  }

  function note({ kind, endpoint, limit }: NodeFault): void {
    if (kind === 'pruned' && limit !== undefined) firstOf.set(endpoint, limit)
  }

  async function insist<T extends SlotHeader>(
    request: ReturnType<typeof blockRequest>,
    read: Read<T>,
    slot: number,
    asking: Asking,
    { hash, parentHash, child }: Wanted,
  ): Promise<T> {
    const accept = (result: unknown, _: number, endpoint: Endpoint): T => {
      const blame = blameOn(endpoint, chain)
      const found = read(result, slot, blame)
      if (hash !== undefined && found.hash !== hash)
        throw blame('unknown_block', `block ${found.hash} at slot ${slot} where ${hash} was asked for`, slot)
      if (parentHash && found.parentHash !== parentHash)
        throw blame('lies', `block ${hash} with the parent ${found.parentHash}, which was ${parentHash} before`, slot)
      return found
    }
    // A slot that a later block names was not skipped: the node has lost it, or never had it.
    const settle: Settle<T> = (fault) => {
      note(fault)
      if (fault.kind !== 'skipped') return undefined
      const detail = child === undefined ? fault.detail : `${fault.detail}; but block ${child} has it as its parent`
      throw new NodeFault({ kind: 'unknown_block', endpoint: fault.endpoint, detail, chain, block: slot })
    }
    const [found] = await pool.ask([request], accept, without(slot, asking), settle)
    return found as T
  }

  return {
    async glance(slot, asking) {
      await places.enter(asking.urgent, asking.signal)
      try {
        const [found] = await pool.ask<SlotBlock | null>(
          [blockRequest(slot, commitment)],
          (result, _, endpoint) => (result === null ? null : readBlock(result, slot, blameOn(endpoint, chain))),
          without(slot, asking),
          (fault) => {
            note(fault)
            return fault.kind === 'skipped' || fault.kind === 'unknown_block' ? null : undefined
          },
        )
        return found ?? null
      } finally {
        places.leave()
      }
    },
    insist: (slot, asking, wanted = {}) => insist(blockRequest(slot, commitment), readBlock, slot, asking, wanted),
    header: (slot, asking, wanted = {}) => insist(headerRequest(slot, commitment), readHeader, slot, asking, wanted),
  }
}
