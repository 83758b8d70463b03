/** The first block at or after a slot. A node that no longer has it names the first it still has: its link tells them apart. */

import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { Commitment, SlotHeader } from '../slot-block.js'
import { isCount } from './check-block.js'
import type { BlockFetcher } from './fetch-blocks.js'
import { firstFromRequest } from './requests.js'

type Parts = { pool: EndpointPool; chain: string; commitment: Commitment; fetcher: BlockFetcher }

/** Left out one after another, and each there when asked for: nobody does that. */
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
      throw blameOn(endpoint, chain)('lies', `a list of slots from ${slot} on that is none`, slot)
    },
    asking,
  )
  if (first === undefined || first === null) return null
  let header = await fetcher.header(first, asking)
  for (let left = 0; header.parentNumber >= slot; left++) {
    if (left >= MAX_LEFT_OUT) {
      const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
      const detail = `slot ${first} as the first block from ${slot} on, and ${left} that are before it`
      throw new NodeFault({ kind: 'lies', endpoint, detail, chain, block: slot })
    }
    header = await fetcher.header(header.parentNumber, asking, { child: header.number })
  }
  return header
}
