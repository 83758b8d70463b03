/**
 * A range's blocks. Nodes say "skipped", "not available" or nothing at all of slots that do have a block, so what is missing is not taken from them: it is
 * proved by the links. A block names its parent's slot; those between them were skipped, and the parent is asked for until it is there. In history the block
 * before the range and the one after it stand guard: their headers prove its ends.
 */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Asking, EndpointPool, PatienceOptions } from '../../nodes/endpoint-pool.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { SlotBlock, SlotHeader } from '../slot-block.js'
import { ifItComes, isPassing, orAbsent } from './absent.js'
import type { BlockFetcher } from './fetch-blocks.js'
import type { KnownLinks } from './known-links.js'
import { type Doubts, doubtsAbout } from './links.js'
import type { RangePlan } from './range-plan.js'
import type { SharedHeaders } from './shared-headers.js'

/** Blocks that are there without asking: sent by a stream, or read before. */
export interface HeldBlocks {
  at(slot: number): SlotBlock | undefined
  keep(block: SlotBlock): void
  forget(slot: number): void
}

export type RangeParts = {
  chain: string
  pool: EndpointPool
  fetcher: BlockFetcher
  held: HeldBlocks
  known: KnownLinks
  shared: SharedHeaders
  /** Whether a node told that it has a block there, as the head. */
  isTold(slot: number): boolean
  sleep: Sleep
}

/** The chain may have moved between two answers: asked again, they are of one chain. */
const LINK_ATTEMPTS = 6
const LINK_PAUSE_MS = 100
/** Long enough for a node to catch up with another, short enough for a block whose child was orphaned. */
const NAMED_PATIENCE: PatienceOptions = { attempts: 6, ms: 5_000 }
/** A node names its head some time before it can give the block. If it takes longer, the next head is there and asks for it again. */
const LATE_PATIENCE: PatienceOptions = { attempts: 6, ms: 3_000 }

export const fetchRange = (parts: RangeParts, plan: RangePlan, asking: Asking): Promise<SlotBlock[]> =>
  new RangeRead(parts, plan, asking).read()

class RangeRead {
  private readonly found = new Map<number, SlotBlock>()
  /** Beside the range. */
  private readonly guards = new Map<number, SlotHeader>()
  private readonly suspects = new Set<number>()
  private readonly given = { before: false, after: false, tail: false }

  constructor(
    private readonly parts: RangeParts,
    private readonly plan: RangePlan,
    private readonly asking: Asking,
  ) {}

  async read(): Promise<SlotBlock[]> {
    const { sleep, known } = this.parts
    const { signal } = this.asking
    await this.glanceAll(this.plan.slots, this.asking)
    for (let attempt = 1; ; ) {
      const chain = this.chain()
      const doubts = doubtsAbout(chain, this.plan.from)
      let fault: NodeFault | null
      if (doubts.missing.length === 0 && doubts.broken.length === 0) {
        if ((await this.setGuards()) || (await this.seekTail())) continue
        fault = this.doubtEnds()
        if (fault === null) {
          for (const header of chain) known.note(header)
          return inOrder(this.found.values())
        }
      } else {
        fault = await this.seekNamed(doubts)
        if (doubts.broken.length === 0 && fault === null) continue
        for (const { later } of doubts.broken)
          for (const { number } of around(later, chain, attempt)) this.suspects.add(number)
      }
      if (attempt >= LINK_ATTEMPTS) throw fault ?? this.notLinked(chain, doubts)
      await sleep(LINK_PAUSE_MS * attempt, signal)
      signal.throwIfAborted()
      await this.askAnew(attempt)
      attempt++
    }
  }

  /** The range's, and those beside it. */
  private chain(): SlotHeader[] {
    return inOrder<SlotHeader>([...this.guards.values(), ...this.found.values()])
  }

  private async glanceAll(slots: readonly number[], asking: Asking): Promise<void> {
    const { fetcher, held } = this.parts
    await Promise.all(
      slots.map(async (slot) => {
        const asked = held.at(slot) ?? fetcher.glance(slot, asking)
        if (asked instanceof Promise) this.parts.shared.asked(slot, asked)
        const block = await asked
        if (block !== null) this.adopt(block)
      }),
    )
  }

  private adopt(block: SlotBlock): void {
    this.found.set(block.number, block)
    this.parts.held.keep(block)
  }

  private isOwn(slot: number): boolean {
    return slot >= this.plan.from && slot <= this.plan.to
  }

  /** Whether there is one more. */
  private async setGuards(): Promise<boolean> {
    const { next, isSettled, from, to } = this.plan
    if (!isSettled) return false
    const slots = [...this.guards.keys()]
    const [first] = inOrder(this.found.values())
    const wanted: number[] = []
    if (!this.given.after && next !== undefined && !slots.some((slot) => slot > to)) wanted.push(next)
    this.given.after ||= next === undefined
    const below = first?.parentNumber
    if (!this.given.before && below !== undefined && below >= 0 && !slots.some((slot) => slot < from))
      if (!this.parts.known.hasSlot(below)) wanted.push(below)
    const came = await Promise.all(wanted.map((slot) => this.setGuard(slot)))
    return came.some(Boolean)
  }

  private async setGuard(slot: number): Promise<boolean> {
    const isBefore = slot < this.plan.from
    const told = this.suspects.has(slot) ? null : ((await this.parts.shared.of(slot)) ?? null)
    const header = told ?? (await this.askGuard(slot, isBefore))
    if (header === null) this.given[isBefore ? 'before' : 'after'] = true
    else this.guards.set(slot, header)
    return header !== null
  }

  private async askGuard(slot: number, isBefore: boolean): Promise<SlotHeader | null> {
    const { fetcher } = this.parts
    if (!isBefore) return orAbsent(fetcher.header(slot, this.asking))
    const asked = fetcher.header(slot, { ...this.asking, patience: NAMED_PATIENCE })
    return ifItComes(asked).catch(unlessPruned)
  }

  /** What links name. The fault of one that did not come, though the chain may have moved meanwhile; null: all came. */
  private async seekNamed({ missing }: Doubts): Promise<NodeFault | null> {
    const { fetcher, held } = this.parts
    const patient = { ...this.asking, patience: NAMED_PATIENCE }
    let lost: NodeFault | null = null
    await Promise.all(
      missing.map(async ({ slot, child }) => {
        try {
          if (this.isOwn(slot)) this.adopt(held.at(slot) ?? (await fetcher.insist(slot, patient, { child })))
          else this.guards.set(slot, await fetcher.header(slot, patient, { child }))
        } catch (error) {
          if (!isPassing(error)) throw error
          lost = error
          this.suspects.add(slot).add(child)
        }
      }),
    )
    return lost
  }

  /** What nodes named, above all that was found: waited for once, since it may only be late. Whether any came. */
  private async seekTail(): Promise<boolean> {
    if (this.given.tail) return false
    this.given.tail = true
    const { to, slots, isListed, isSettled } = this.plan
    const top = this.chain().at(-1)?.number ?? this.plan.from - 1
    const named = new Set([...(isListed ? slots : []), ...(this.parts.isTold(to) ? [to] : [])])
    const came = await Promise.all(
      [...named]
        .filter((slot) => slot > top)
        .map(async (slot) => {
          const patient = isSettled ? this.asking : { ...this.asking, patience: LATE_PATIENCE }
          const asked = this.parts.fetcher.insist(slot, patient)
          // Near the head it may also have died; the next block's link will tell.
          const block = await (isSettled ? asked : ifItComes(asked))
          if (block !== null) this.adopt(block)
          return block !== null
        }),
    )
    return came.some(Boolean)
  }

  /** Against what was known before: near the head there are no guards. */
  private doubtEnds(): NodeFault | null {
    const blocks = inOrder(this.found.values())
    let fault: NodeFault | null = null
    for (const end of new Set([...blocks.slice(0, 1), ...blocks.slice(-1)])) {
      const doubt = this.parts.known.doubtAbout(end)
      if (doubt === null) continue
      fault = this.blameAll(doubt, end.number)
      this.suspects.add(end.number)
    }
    return fault
  }

  /** All of one endpoint, another each time: answers of two may be of two chains for ever. */
  private async askAnew(attempt: number): Promise<void> {
    const { pool, held } = this.parts
    const chosen = pool.endpoints[attempt % pool.endpoints.length]
    const avoid = pool.endpoints.filter((endpoint) => endpoint !== chosen)
    for (const slot of this.suspects) {
      held.forget(slot)
      this.found.delete(slot)
      this.guards.delete(slot)
    }
    const own = [...this.suspects].filter((slot) => this.isOwn(slot))
    await this.glanceAll(own, { ...this.asking, avoid })
  }

  private notLinked(chain: readonly SlotHeader[], { broken }: Doubts): NodeFault {
    const { earlier, later } = broken[0] ?? { earlier: 0, later: 0 }
    const at = (slot: number) => chain.find(({ number }) => number === slot)
    const parent = `${at(later)?.parentHash} at slot ${at(later)?.parentNumber}`
    const wrong = `block ${later} whose parent is ${parent}, but ${at(earlier)?.hash} at slot ${earlier}`
    return this.blameAll(`${wrong}, ${LINK_ATTEMPTS} times`, later)
  }

  /** Which of them is wrong nobody can tell. */
  private blameAll(detail: string, block: number): NodeFault {
    const { pool, chain } = this.parts
    const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
    return new NodeFault({ kind: 'lies', endpoint, detail, chain, block })
  }
}

/** The two of a broken link, and each time more to both sides: a branch may be longer than a block. */
function around(later: number, chain: readonly SlotHeader[], attempt: number): readonly SlotHeader[] {
  const place = chain.findIndex(({ number }) => number === later)
  const reach = 2 ** (attempt - 1)
  return chain.slice(Math.max(0, place - reach), place + reach)
}

const inOrder = <H extends SlotHeader>(headers: Iterable<H>): H[] =>
  [...headers].sort((one, other) => one.number - other.number)

/** Before the first block that anybody has. */
function unlessPruned(error: unknown): null {
  if (error instanceof NodeFault && error.kind === 'pruned') return null
  throw error
}
