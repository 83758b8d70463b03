/**
 * Which block was at which slot lately, by its own word and by its children's. Links show within a range that an answer is wrong; this shows it at a range's
 * ends, and of single blocks. An answer does not even say its slot: a node, or what stands before it, may give another slot's block.
 */
import { RecentMap } from '../recent-map.js'
import { type SlotBlock, type SlotHeader, slotHeader } from '../slot-block.js'

export interface KnownLinks {
  /** Why the block does not fit what is known; null: it does, or the same was told before, and is believed now: chains move. */
  conflictOf(header: SlotHeader): string | null
  note(header: SlotHeader): void
  /** Whether a block there is known. */
  hasSlot(slot: number): boolean
}

const REMEMBERED_BLOCKS = 4096

export function createKnownLinks(): KnownLinks {
  const hashAt = new RecentMap<number, string>(REMEMBERED_BLOCKS)
  const slotOf = new RecentMap<string, number>(REMEMBERED_BLOCKS)
  const rejectedOnce = new RecentMap<string, true>(REMEMBERED_BLOCKS)

  function misfit({ number, hash, parentNumber, parentHash }: SlotHeader): string | null {
    const slot = slotOf.get(hash) ?? number
    if (slot !== number) return `block ${hash} at slot ${number}, which was at slot ${slot} before`
    const own = hashAt.get(number) ?? hash
    if (own !== hash) return `block ${hash} at slot ${number}, where ${own} was before`
    const parent = hashAt.get(parentNumber) ?? parentHash
    if (parent === parentHash) return null
    return `block ${number} whose parent at slot ${parentNumber} is ${parentHash}, where ${parent} was before`
  }

  function put(number: number, hash: string): void {
    hashAt.set(number, hash)
    slotOf.set(hash, number)
  }

  return {
    conflictOf(header) {
      const found = misfit(header)
      if (found === null) return null
      const { number, hash, parentNumber, parentHash } = header
      const key = `${number} ${hash} ${parentNumber} ${parentHash}`
      if (rejectedOnce.get(key) !== undefined) return null
      rejectedOnce.set(key, true)
      return found
    },
    note({ number, hash, parentNumber, parentHash }) {
      put(number, hash)
      put(parentNumber, parentHash)
    },
    hasSlot: (slot) => hashAt.get(slot) !== undefined,
  }
}

export type LinkProblems = {
  /** Slots that must have a block, because another names it as its parent. */
  missing: { slot: number; child: number }[]
  /** Two neighbours of which the later does not follow the earlier. */
  broken: { earlier: number; later: number }[]
}

/** `from`: what is below it is not the range's. By slot, in order. A slot that no link names was skipped, or is above all blocks. */
export function findLinkProblems(headers: readonly SlotHeader[], from: number): LinkProblems {
  const problems: LinkProblems = { missing: [], broken: [] }
  let before: SlotHeader | undefined
  for (const header of headers) {
    const { number, parentNumber, parentHash } = header
    if (parentNumber > (before?.number ?? from - 1)) problems.missing.push({ slot: parentNumber, child: number })
    else if (before !== undefined && (parentNumber < before.number || parentHash !== before.hash))
      problems.broken.push({ earlier: before.number, later: number })
    before = header
  }
  return problems
}

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
