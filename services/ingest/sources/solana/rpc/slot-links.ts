/**
 * Links between blocks: which are missing, which conflict, and which were seen before. Links within a range show wrong responses;
 * known links show them at a range's ends and for single blocks. A response does not include its slot: a node or a proxy may return
 * another slot's block.
 */
import { RecentMap } from '../recent-map.js'
import { type SlotBlock, type SlotHeader, slotHeader } from '../slot-block.js'

export interface KnownLinks {
  /** Why the block conflicts with known links; null: it fits, or it was rejected before. The second time it is accepted: reorgs happen. */
  conflictOf(header: SlotHeader): string | null
  note(header: SlotHeader): void
  /** Whether a block is known at this slot. */
  hasSlot(slot: number): boolean
}

const REMEMBERED_BLOCKS = 4096

export function createKnownLinks(): KnownLinks {
  const hashAt = new RecentMap<number, string>(REMEMBERED_BLOCKS)
  const slotOf = new RecentMap<string, number>(REMEMBERED_BLOCKS)
  const rejectedOnce = new RecentMap<string, true>(REMEMBERED_BLOCKS)

  function misfit({ number, hash, parentNumber, parentHash }: SlotHeader): string | null {
    const slot = slotOf.get(hash) ?? number
    if (slot !== number) return `returned block ${hash} at slot ${number}, before it was at slot ${slot}`
    const own = hashAt.get(number) ?? hash
    if (own !== hash) return `returned block ${hash} at slot ${number}, before it was ${own}`
    const parent = hashAt.get(parentNumber) ?? parentHash
    if (parent === parentHash) return null
    return `returned block ${number} whose parent at slot ${parentNumber} is ${parentHash}, before it was ${parent}`
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
  /** Slots that must have a block because another block names it as its parent. */
  missing: { slot: number; child: number }[]
  /** Neighbours of which the later is not a child of the earlier. */
  broken: { earlier: number; later: number }[]
}

/** `headers`: in order of slots. `from`: the range's first slot. A slot that no link names was skipped or is above all blocks. */
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

/** Headers that are being read or were read recently: concurrent ranges prove each other's ends without a second request. */
export interface SharedHeaders {
  asked(slot: number, answer: Promise<SlotBlock | null>): void
  /** Null: no block came. Undefined: not requested. */
  of(slot: number): Promise<SlotHeader | null> | undefined
}

/** Enough for a few ranges. */
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
