/** What is being read, or was lately: ranges side by side prove each other's ends without asking twice. */
import { RecentMap } from '../recent-map.js'
import { type SlotBlock, type SlotHeader, slotHeader } from '../slot-block.js'

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
        answer.then(
          (block) => (block === null ? null : slotHeader(block)),
          () => null,
        ),
      )
    },
    of: (slot) => headers.get(slot),
  }
}
