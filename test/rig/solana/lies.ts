/** Plausible but wrong answers, which only the blocks' links or another request can reveal. */
import type { RpcAnswer, RpcRequest } from '../json-rpc/server.js'
import { fault } from '../json-rpc/server.js'
import type { Random } from '../market/random.js'
import type { BlockAnswer } from './block-answer.js'
import type { Ledger } from './ledger.js'
import { notAvailable, type RpcError, skippedInStorage, slotSkipped, statusNotYet } from './rpc-errors.js'
import { keyFrom } from './seeded.js'

const MOST_SLOTS_BEHIND = 5
const MOST_SLOTS_AHEAD = 2

type Lying = {
  request: RpcRequest
  answer: RpcAnswer
  random: Random
  ledger: Ledger
  ask(request: RpcRequest): RpcAnswer
  isGoingOn(): boolean
}

/** Null: no lie is possible. */
export function lieAbout(lying: Lying): RpcAnswer | null {
  const { request, answer, random } = lying
  const { result } = answer
  if (result === undefined || result === null) return null
  switch (request.method) {
    case 'getSlot': {
      // No node can be ahead of the final slot.
      const isAhead = random.chance(0.4) && isConfirmed(request) && lying.isGoingOn()
      const by = isAhead ? random.int(1, MOST_SLOTS_AHEAD) : -random.int(1, MOST_SLOTS_BEHIND)
      return { ...answer, result: Math.max(0, Number(result) + by) }
    }
    case 'getBlocks': {
      const slots = result as number[]
      const dropped = random.int(0, slots.length - 1)
      return slots.length === 0 ? null : { ...answer, result: slots.filter((_, at) => at !== dropped) }
    }
    case 'getBlocksWithLimit': {
      const [from, limit, ...rest] = request.params ?? []
      const more = lying.ask({ ...request, params: [from, Number(limit) + 1, ...rest] })
      return { ...answer, result: (more.result as number[]).slice(1) }
    }
    case 'getBlock':
      return wrongBlock(lying, result as BlockAnswer)
    default:
      return null
  }
}

function isConfirmed({ params }: RpcRequest): boolean {
  return (params?.[0] as { commitment?: string } | undefined)?.commitment === 'confirmed'
}

function wrongBlock(lying: Lying, block: BlockAnswer): RpcAnswer | null {
  const { request, answer, random, ledger } = lying
  const slot = Number(request.params?.[0])
  const changed = (change: Partial<BlockAnswer>): RpcAnswer => ({ ...answer, result: { ...block, ...change } })
  return random.pick<() => RpcAnswer | null>([
    () => ({ ...answer, result: null }),
    () => refusal(request, random.pick([slotSkipped, skippedInStorage])(slot)),
    () => refusal(request, random.pick([notAvailable, statusNotYet])(slot)),
    () => changed({ blockTime: null }),
    () => wronglyLinked(),
    () => withoutMeta(),
    () => ofAnotherSlot(),
  ])()

  /** A wrong link of the first block could not be detected. */
  function wronglyLinked(): RpcAnswer | null {
    return ledger.blockAt(block.parentSlot) === undefined
      ? null
      : changed({ previousBlockhash: keyFrom(`wrong ${slot}`) })
  }

  function withoutMeta(): RpcAnswer | null {
    const { transactions = [] } = block
    const lost = random.int(0, Math.max(0, transactions.length - 1))
    if (transactions.length === 0) return null
    return changed({ transactions: transactions.map((each, at) => (at === lost ? { ...each, meta: null } : each)) })
  }

  /** No child reveals a wrong newest block, so only lower ones are replaced. */
  function ofAnotherSlot(): RpcAnswer | null {
    if (slot >= ledger.tip.slot) return null
    const others = ledger.blocks.filter((other) => other.slot !== slot && Math.abs(other.slot - slot) < 5)
    if (others.length === 0) return null
    const [, ...rest] = request.params ?? []
    const other = lying.ask({ ...request, params: [random.pick(others).slot, ...rest] })
    return other.result === undefined ? null : { ...answer, result: other.result }
  }
}

export function refusal({ id }: RpcRequest, { code, message, data }: RpcError): RpcAnswer {
  return fault(id, code, message, data)
}
