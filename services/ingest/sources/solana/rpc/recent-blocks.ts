/** The last blocks that were read near the head, so that what is asked again there is not fetched again. */
import type { SlotBlock } from '../slot-block.js'

export interface RecentBlocks {
  keep(block: SlotBlock): void
  at(slot: number): SlotBlock | undefined
  /** Of a slot whose block turned out not to be the chain's. */
  forget(slot: number): void
}

/** A block of a busy chain takes some ten MB once it is parsed. */
const MAX_BLOCKS = 8

export function createRecentBlocks(maxBlocks = MAX_BLOCKS): RecentBlocks {
  const blocks = new Map<number, SlotBlock>()
  return {
    keep(block) {
      blocks.delete(block.number)
      blocks.set(block.number, block)
      for (const slot of blocks.keys()) {
        if (blocks.size <= maxBlocks) break
        blocks.delete(slot)
      }
    },
    at: (slot) => blocks.get(slot),
    forget: (slot) => void blocks.delete(slot),
  }
}
