/**
 * At which slot blocks were, by their own word and by their children's. An answer to `getBlock` does not say its slot: where a node, or what stands before
 * it, gives another slot's block, only this shows it before a child does.
 */
import type { Blame } from '../../nodes/blame.js'
import { RecentMap } from '../recent-map.js'
import type { SlotHeader } from '../slot-block.js'

export interface SlotOfHash {
  /** Throws where the block was at another slot before. Only once: which of the two was wrong nobody knows, and asked again they tell. */
  check(header: SlotHeader, blame: Blame): void
}

const REMEMBERED_BLOCKS = 4096

export function createSlotOfHash(): SlotOfHash {
  const slots = new RecentMap<string, number | null>(REMEMBERED_BLOCKS)
  return {
    check({ number, hash, parentNumber, parentHash }, blame) {
      const known = slots.get(hash)
      if (known !== undefined && known !== null && known !== number) {
        slots.set(hash, null)
        throw blame('lies', `block ${hash} at slot ${number}, which was at slot ${known} before`, number)
      }
      slots.set(hash, number)
      slots.set(parentHash, parentNumber)
    },
  }
}
