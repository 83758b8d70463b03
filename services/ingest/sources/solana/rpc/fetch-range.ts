/**
 * Fetches a range's blocks. Nodes answer "skipped", "not available" or nothing for slots that do have a block, so gaps are proved by
 * links instead: a block names its parent's slot, so the slots in between were skipped, and the parent is requested until it comes.
 * In history, the headers of the blocks before and after the range (guards) prove its ends.
 */
import type { Sleep } from '../../../../core/runtime/backoff.js'
import type { Asking, EndpointPool, PatienceOptions } from '../../nodes/endpoint-pool.js'
import { NodeFault } from '../../nodes/node-fault.js'
import type { SlotBlock, SlotHeader } from '../slot-block.js'
import type { BlockFetcher } from './fetch-blocks.js'
import { ifItComes, isTransient, orAbsent, type RangePlan } from './range-plan.js'
import { findLinkProblems, type KnownLinks, type LinkProblems, type SharedHeaders } from './slot-links.js'

/** Blocks available without a request: pushed by a stream, or read before. */
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
  /** Whether a node reported this slot as its head. */
  isKnownHead(slot: number): boolean
  sleep: Sleep
}

/** A reorg between two responses breaks their link: request them again. */
const LINK_ATTEMPTS = 6
const LINK_PAUSE_MS = 100
/** Long enough for a node to catch up with another, short enough for a block whose child was orphaned. */
const NAMED_PATIENCE: PatienceOptions = { attempts: 6, ms: 5_000 }
/** A node reports its head before it can return the block. If it takes longer, the next head requests it again. */
const LATE_PATIENCE: PatienceOptions = { attempts: 6, ms: 3_000 }

export const fetchRange = (parts: RangeParts, plan: RangePlan, asking: Asking): Promise<SlotBlock[]> =>
  new RangeRead(parts, plan, asking).read()

class RangeRead {
  private readonly found = new Map<number, SlotBlock>()
  /** Headers next to the range. */
  private readonly guards = new Map<number, SlotHeader>()
  private readonly suspects = new Set<number>()
  private readonly gaveUpOn = { before: false, after: false, tail: false }

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
      const problems = findLinkProblems(chain, this.plan.from)
      let fault: NodeFault | null
      if (problems.missing.length === 0 && problems.broken.length === 0) {
        if ((await this.setGuards()) || (await this.seekTail())) continue
        fault = this.checkEnds()
        if (fault === null) {
          for (const header of chain) known.note(header)
          return inOrder(this.found.values())
        }
      } else {
        fault = await this.seekNamed(problems)
        if (problems.broken.length === 0 && fault === null) continue
        for (const { later } of problems.broken)
          for (const { number } of around(later, chain, attempt)) this.suspects.add(number)
      }
      if (attempt >= LINK_ATTEMPTS) throw fault ?? this.notLinked(chain, problems)
      await sleep(LINK_PAUSE_MS * attempt, signal)
      signal.throwIfAborted()
      await this.askAgain(attempt)
      attempt++
    }
  }

  /** The range's blocks and the guards. */
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

  /** Whether a guard was added. */
  private async setGuards(): Promise<boolean> {
    const { next, isSettled, from, to } = this.plan
    if (!isSettled) return false
    const slots = [...this.guards.keys()]
    const [first] = inOrder(this.found.values())
    const wanted: number[] = []
    if (!this.gaveUpOn.after && next !== undefined && !slots.some((slot) => slot > to)) wanted.push(next)
    this.gaveUpOn.after ||= next === undefined
    const below = first?.parentNumber
    if (!this.gaveUpOn.before && below !== undefined && below >= 0 && !slots.some((slot) => slot < from))
      if (!this.parts.known.hasSlot(below)) wanted.push(below)
    const came = await Promise.all(wanted.map((slot) => this.setGuard(slot)))
    return came.some(Boolean)
  }

  private async setGuard(slot: number): Promise<boolean> {
    const isBefore = slot < this.plan.from
    const shared = this.suspects.has(slot) ? null : ((await this.parts.shared.of(slot)) ?? null)
    const header = shared ?? (await this.askGuard(slot, isBefore))
    if (header === null) this.gaveUpOn[isBefore ? 'before' : 'after'] = true
    else this.guards.set(slot, header)
    return header !== null
  }

  private async askGuard(slot: number, isBefore: boolean): Promise<SlotHeader | null> {
    const { fetcher } = this.parts
    if (!isBefore) return orAbsent(fetcher.header(slot, this.asking))
    const asked = fetcher.header(slot, { ...this.asking, patience: NAMED_PATIENCE })
    return ifItComes(asked).catch(unlessPruned)
  }

  /** Requests missing parents. Returns the fault of one that did not come (a reorg may be the cause); null: all came. */
  private async seekNamed({ missing }: LinkProblems): Promise<NodeFault | null> {
    const { fetcher, held } = this.parts
    const patient = { ...this.asking, patience: NAMED_PATIENCE }
    let lost: NodeFault | null = null
    await Promise.all(
      missing.map(async ({ slot, child }) => {
        try {
          if (this.isOwn(slot)) this.adopt(held.at(slot) ?? (await fetcher.insist(slot, patient, { child })))
          else this.guards.set(slot, await fetcher.header(slot, patient, { child }))
        } catch (error) {
          if (!isTransient(error)) throw error
          lost = error
          this.suspects.add(slot).add(child)
        }
      }),
    )
    return lost
  }

  /** Requests blocks that nodes reported above all found ones. Waits once, since they may be late. Whether any came. */
  private async seekTail(): Promise<boolean> {
    if (this.gaveUpOn.tail) return false
    this.gaveUpOn.tail = true
    const { to, slots, isListed, isSettled } = this.plan
    const top = this.chain().at(-1)?.number ?? this.plan.from - 1
    const named = new Set([...(isListed ? slots : []), ...(this.parts.isKnownHead(to) ? [to] : [])])
    const came = await Promise.all(
      [...named]
        .filter((slot) => slot > top)
        .map(async (slot) => {
          const patient = isSettled ? this.asking : { ...this.asking, patience: LATE_PATIENCE }
          const asked = this.parts.fetcher.insist(slot, patient)
          // Near the head it may have been orphaned; the next block's link will show it.
          const block = await (isSettled ? asked : ifItComes(asked))
          if (block !== null) this.adopt(block)
          return block !== null
        }),
    )
    return came.some(Boolean)
  }

  /** Checks the ends against known links: near the head there are no guards. */
  private checkEnds(): NodeFault | null {
    const blocks = inOrder(this.found.values())
    let fault: NodeFault | null = null
    for (const end of new Set([...blocks.slice(0, 1), ...blocks.slice(-1)])) {
      const conflict = this.parts.known.conflictOf(end)
      if (conflict === null) continue
      fault = this.blameAll(conflict, end.number)
      this.suspects.add(end.number)
    }
    return fault
  }

  /** Requests all from one endpoint, another each time: two endpoints may stay on different forks. */
  private async askAgain(attempt: number): Promise<void> {
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

  private notLinked(chain: readonly SlotHeader[], { broken }: LinkProblems): NodeFault {
    const { earlier, later } = broken[0] ?? { earlier: 0, later: 0 }
    const at = (slot: number) => chain.find(({ number }) => number === slot)
    const parent = `${at(later)?.parentHash} at slot ${at(later)?.parentNumber}`
    const wrong = `returned block ${later} whose parent is ${parent}, but ${at(earlier)?.hash} at slot ${earlier}`
    return this.blameAll(`${wrong}, ${LINK_ATTEMPTS} times`, later)
  }

  /** It is unknown which of them is wrong. */
  private blameAll(detail: string, block: number): NodeFault {
    const { pool, chain } = this.parts
    const endpoint = pool.endpoints.map(({ name }) => name).join(', ')
    return new NodeFault({ kind: 'lies', endpoint, detail, chain, block })
  }
}

/** The two blocks of a broken link, and more on both sides with each attempt: a fork may be longer than a block. */
function around(later: number, chain: readonly SlotHeader[], attempt: number): readonly SlotHeader[] {
  const place = chain.findIndex(({ number }) => number === later)
  const reach = 2 ** (attempt - 1)
  return chain.slice(Math.max(0, place - reach), place + reach)
}

const inOrder = <H extends SlotHeader>(headers: Iterable<H>): H[] =>
  [...headers].sort((one, other) => one.number - other.number)

/** No endpoint has blocks this old. */
function unlessPruned(error: unknown): null {
  if (error instanceof NodeFault && error.kind === 'pruned') return null
  throw error
}
