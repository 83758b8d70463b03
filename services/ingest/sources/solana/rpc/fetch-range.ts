/**
 * A range's blocks. Nodes say "skipped", "not available" or nothing at all of slots that do have a block, so what is missing is not taken from them: it is
 * proved by the links. A block names its parent's slot; those between them were skipped, and the parent is asked for until it is there.
 */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { PatienceOptions } from '../../nodes/patience.js'
import type { SlotBlock } from '../slot-block.js'
import type { BlockFetcher } from './fetch-blocks.js'
import { type Doubts, doubtsAbout } from './links.js'
import type { SlotLists } from './slot-lists.js'

/** Blocks that are there without asking: sent by a stream, or read before. */
export interface HeldBlocks {
  at(slot: number): SlotBlock | undefined
  keep(block: SlotBlock): void
  forget(slot: number): void
}

export type RangeOptions = {
  chain: string
  pool: EndpointPool
  fetcher: BlockFetcher
  lists: SlotLists
  held: HeldBlocks
  /** Whether a node told that it has a block there, as the head. */
  isTold(slot: number): boolean
  /** The highest slot whose block will neither come late nor die, as far as anybody can tell. */
  settledTo(): number
  sleep: Sleep
}

export interface RangeFetcher {
  range(from: number, to: number, asking: Asking): Promise<SlotBlock[]>
}

/** So few near the head are asked for without asking first which they are. */
const FEW_SLOTS = 16
/** The chain may have moved between two answers: asked again, they are of one chain. */
const LINK_ATTEMPTS = 6
const LINK_PAUSE_MS = 100
/** Long enough for a node to catch up with another, short enough for a block whose child was orphaned. */
const NAMED_PATIENCE: PatienceOptions = { attempts: 6, ms: 5_000 }
/** A node names its head some time before it can give the block. If it takes longer, the next head is there and asks for it again. */
const LATE_PATIENCE: PatienceOptions = { attempts: 6, ms: 3_000 }
const PRUNED_PATIENCE: PatienceOptions = { attempts: 3, ms: 5_000 }

export function createRangeFetcher(options: RangeOptions): RangeFetcher {
  const { pool, fetcher, lists, held, isTold, settledTo, sleep } = options

  async function range(from: number, to: number, asking: Asking): Promise<SlotBlock[]> {
    const listed = await slotsToAsk(from, to, asking)
    const found = new Map<number, SlotBlock>()
    await glanceAll(listed ?? slotsFrom(from, to), found, asking)
    const suspects = new Set<number>()
    let isTailSought = false
    for (let attempt = 1; ; ) {
      const blocks = inOrder(found)
      const doubts = doubtsAbout(blocks, from)
      if (doubts.missing.length === 0 && doubts.broken.length === 0) {
        if (isTailSought) return blocks
        isTailSought = true
        const top = blocks.at(-1)?.number ?? from - 1
        const tail = (listed ?? [to]).filter((slot) => slot > top && (listed !== null || isTold(slot)))
        if (!(await seekTail(tail, found, asking))) return blocks
        continue
      }
      const lost = await seekNamed(doubts, found, suspects, asking)
      if (doubts.broken.length === 0 && lost === null) continue
      if (attempt >= LINK_ATTEMPTS) throw lost ?? notLinked(options, found, doubts)
      await sleep(LINK_PAUSE_MS * attempt, asking.signal)
      asking.signal.throwIfAborted()
      for (const { earlier, later } of doubts.broken) suspects.add(earlier).add(later)
      await askAnew(suspects, found, attempt, asking)
      attempt++
    }
  }

  /** Null: any of them may have a block. */
  async function slotsToAsk(from: number, to: number, asking: Asking): Promise<number[] | null> {
    const settled = settledTo()
    if (to - from < FEW_SLOTS && to > settled) return null
    const listed = await lists.slotsIn(from, to, settled, asking)
    if (listed === null || listed.length > 0) return listed
    // Of blocks that it no longer has a node lists none, as if there had never been any; asked for one, it says so.
    const last = await fetcher.header(to, { ...asking, patience: PRUNED_PATIENCE }).catch(unlessUnknown)
    return last === null ? listed : null
  }

  async function glanceAll(slots: readonly number[], found: Map<number, SlotBlock>, asking: Asking): Promise<void> {
    await Promise.all(
      slots.map(async (slot) => {
        const block = held.at(slot) ?? (await fetcher.glance(slot, asking))
        if (block !== null) adopt(block, found)
      }),
    )
  }

  function adopt(block: SlotBlock, found: Map<number, SlotBlock>): void {
    found.set(block.number, block)
    held.keep(block)
  }

  /** What links name. The fault of one that did not come, though the chain may have moved meanwhile; null: all came. */
  async function seekNamed(
    { missing }: Doubts,
    found: Map<number, SlotBlock>,
    suspects: Set<number>,
    asking: Asking,
  ): Promise<NodeFault | null> {
    let lost: NodeFault | null = null
    await Promise.all(
      missing.map(async ({ slot, child }) => {
        try {
          const patient = { ...asking, patience: NAMED_PATIENCE }
          adopt(held.at(slot) ?? (await fetcher.insist(slot, patient, { child })), found)
        } catch (error) {
          if (!isUnknown(error)) throw error
          lost = error
          suspects.add(slot).add(child)
        }
      }),
    )
    return lost
  }

  /** What nodes named, above all that was found: waited for, since it may only be late. Whether any came. */
  async function seekTail(slots: readonly number[], found: Map<number, SlotBlock>, asking: Asking): Promise<boolean> {
    const came = await Promise.all(
      slots.map(async (slot) => {
        // Near the head it may also have died; the next block's link will tell.
        const isSettled = slot <= settledTo()
        const patient = isSettled ? asking : { ...asking, patience: LATE_PATIENCE }
        const block = await fetcher.insist(slot, patient).catch((error: unknown) => {
          if (isSettled) throw error
          return unlessUnknown(error)
        })
        if (block !== null) adopt(block, found)
        return block !== null
      }),
    )
    return came.some(Boolean)
  }

  /** All of one endpoint, another each time: answers of two may be of two chains for ever. */
  async function askAnew(
    suspects: ReadonlySet<number>,
    found: Map<number, SlotBlock>,
    attempt: number,
    asking: Asking,
  ): Promise<void> {
    const { endpoints } = pool
    const chosen = endpoints[attempt % endpoints.length]
    const avoid = endpoints.filter((endpoint) => endpoint !== chosen)
    for (const slot of suspects) {
      held.forget(slot)
      found.delete(slot)
    }
    await glanceAll([...suspects], found, { ...asking, avoid })
  }

  return { range }
}

const slotsFrom = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place)

const inOrder = (found: ReadonlyMap<number, SlotBlock>): SlotBlock[] =>
  [...found.values()].sort((one, other) => one.number - other.number)

const isUnknown = (error: unknown): error is NodeFault => error instanceof NodeFault && error.kind === 'unknown_block'

function unlessUnknown(error: unknown): null {
  if (isUnknown(error)) return null
  throw error
}

function notLinked({ pool, chain }: RangeOptions, found: ReadonlyMap<number, SlotBlock>, doubts: Doubts): NodeFault {
  const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
  const { earlier, later } = doubts.broken[0] ?? { earlier: 0, later: 0 }
  const { hash } = found.get(earlier) ?? {}
  const { parentNumber, parentHash } = found.get(later) ?? {}
  const detail = `block ${later} whose parent is ${parentHash} at slot ${parentNumber}, but ${hash} at slot ${earlier}, ${LINK_ATTEMPTS} times`
  return new NodeFault({ kind: 'lies', endpoint, detail, chain, block: later })
}
