/** One slot's block or header, from whichever endpoint has it. */

import type { Endpoint } from '../../nodes/endpoint.js'
import type { Asking, EndpointPool, Settle } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn, NodeFault } from '../../nodes/node-fault.js'
import { createSlots } from '../../nodes/request-queue.js'
import type { Commitment, SlotBlock, SlotHeader } from '../slot-block.js'
import { blockRequest, firstFromRequest, headerRequest, isCount, readBlock, readHeader } from './rpc-messages.js'

export interface BlockFetcher {
  /** Null: the endpoint has none, which is only a hint. */
  glance(slot: number, asking: Asking): Promise<SlotBlock | null>
  /** Throws `unknown_block` if no endpoint has one before the patience runs out. */
  insist(slot: number, asking: Asking, wanted?: Wanted): Promise<SlotBlock>
  /** The same without transactions. */
  header(slot: number, asking: Asking, wanted?: Wanted): Promise<SlotHeader>
}

export type Wanted = {
  /** Only the block with this hash. */
  hash?: string
  /** And with this parent, if known. */
  parentHash?: string
  /** The slot of a block whose parent it is. */
  child?: number
}

/** Concurrent requests per endpoint: the responses are large. */
export const MAX_IN_FLIGHT = 8

type Read<T> = (result: unknown, slot: number, blame: Blame) => T

export function createBlockFetcher(pool: EndpointPool, chain: string, commitment: Commitment): BlockFetcher {
  const places = createSlots(MAX_IN_FLIGHT * pool.endpoints.length)
  /** The first block an endpoint has, if it reported one: older blocks are requested from others first. */
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
        throw blame('unknown_block', `returned block ${found.hash} at slot ${slot}, requested ${hash}`, slot)
      if (parentHash && found.parentHash !== parentHash)
        throw blame('lies', `returned block ${hash} with parent ${found.parentHash}, before it was ${parentHash}`, slot)
      return found
    }
    // A parent's slot was not skipped: the node lost the block or never had it.
    const settle: Settle<T> = (fault) => {
      note(fault)
      if (fault.kind !== 'skipped') return undefined
      const detail = child === undefined ? fault.detail : `${fault.detail}, but it is the parent of block ${child}`
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

/** For the first block at or after a slot. */
type Parts = { pool: EndpointPool; chain: string; commitment: Commitment; fetcher: BlockFetcher }

/** No honest node omits this many blocks in a row that it returns on request. */
const MAX_LEFT_OUT = 32

/** Null: there is none yet. */
export async function fetchFirstFrom(parts: Parts, slot: number, asking: Asking): Promise<SlotHeader | null> {
  const { pool, chain, commitment, fetcher } = parts
  const [first] = await pool.ask(
    [firstFromRequest(slot, commitment)],
    (result, _, endpoint) => {
      const [number] = Array.isArray(result) ? (result as unknown[]) : [null]
      if (number === undefined) return null
      if (isCount(number) && number >= slot) return number
      throw blameOn(endpoint, chain)('lies', `returned an invalid list of slots from ${slot}`, slot)
    },
    asking,
  )
  if (first === undefined || first === null) return null
  let header = await fetcher.header(first, asking)
  for (let left = 0; header.parentNumber >= slot; left++) {
    if (left >= MAX_LEFT_OUT) {
      const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
      const detail = `listed slot ${first} as the first block from ${slot}, but returned ${left} blocks before it`
      throw new NodeFault({ kind: 'lies', endpoint, detail, chain, block: slot })
    }
    header = await fetcher.header(header.parentNumber, asking, { child: header.number })
  }
  return header
}
