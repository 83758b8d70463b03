/** What is being read, or was lately: ranges side by side prove each other's ends without asking twice. */
import { RecentMap } from '../recent-map.js'
import type { SlotBlock, SlotHeader } from '../slot-block.js'

export interface SharedHeaders {
  asked(slot: number, answer: Promise<SlotBlock | null>): void
  /** Null: nothing came. Undefined: nobody asked. */
  of(slot: number): Promise<SlotHeader | null> | undefined
}

/** A few ranges' worth. */
const REMEMBERED_SLOTS = 1024

export function createSharedHeaders(): SharedHeaders {
  const headers = new RecentMap<number, Promise<SlotHeader | null>>(REMEMBERED_SLOTS)
  return {
    asked(slot, answer) {
      headers.set(
        slot,
        answer.then(headerOf, () => null),
      )
    },
    of: (slot) => headers.get(slot),
  }
}

/** Without what the block holds. */
function headerOf(block: SlotBlock | null): SlotHeader | null {
  if (block === null) return null
  const { number, hash, parentNumber, parentHash, timeS } = block
  return { number, hash, parentNumber, parentHash, timeS }
}
