/** What the links between a range's blocks say about it: what is missing, and which blocks cannot both be the chain's. */
import type { SlotHeader } from '../slot-block.js'

export type Doubts = {
  /** Slots that must have a block, because another names it as its parent. */
  missing: { slot: number; child: number }[]
  /** Two neighbours of which the later does not follow the earlier. */
  broken: { earlier: number; later: number }[]
}

/** `from`: what is below it is not the range's. By slot, in order. A slot that no link names was skipped, or is above all blocks. */
export function doubtsAbout(headers: readonly SlotHeader[], from: number): Doubts {
  const doubts: Doubts = { missing: [], broken: [] }
  let before: SlotHeader | undefined
  for (const header of headers) {
    const { number, parentNumber, parentHash } = header
    if (parentNumber > (before?.number ?? from - 1)) doubts.missing.push({ slot: parentNumber, child: number })
    else if (before !== undefined && (parentNumber < before.number || parentHash !== before.hash))
      doubts.broken.push({ earlier: before.number, later: number })
    before = header
  }
  return doubts
}
