import type { BlockUpdate } from '../../../core/domain/records.js'
import { type EventQuery, inOrder, isIncluded, type Ordered, readsForward } from '../event-order.js'

/** How many of the newest events of a pair are kept: a request may ask for 300. */
export const KEPT_EVENTS = 400
/** A trade has a dozen texts. */
const BYTES_AN_EVENT = 1_000

/** The newest trades or liquidity events of a pair, ascending. */
export class HotEvents<Event extends Ordered> {
  private events: Event[]
  /** Every event after this one is kept; undefined: all of them. */
  private coveredAfter: Event | undefined

  /** `events` are ascending and, unless `isComplete`, the newest ones. */
  constructor(
    events: readonly Event[],
    isComplete: boolean,
    private readonly kept = KEPT_EVENTS,
  ) {
    this.events = [...events]
    this.coveredAfter = isComplete ? undefined : events[0]
  }

  get bytes(): number {
    return this.events.length * BYTES_AN_EVENT
  }

  /** Adds the events of a block. */
  add(added: readonly Omit<Event, 'blockNumber' | 'timeS'>[], { number, time }: BlockUpdate): void {
    for (const event of added) this.put({ ...event, blockNumber: number, timeS: time } as Event)
    if (this.events.length <= 2 * this.kept) return
    this.events = this.events.slice(-this.kept)
    this.coveredAfter = this.events[0]
  }

  /** Removes the events of blocks above `block`, which a reorg orphaned. */
  removeAbove(block: number): void {
    if (this.events.some((event) => event.blockNumber > block))
      this.events = this.events.filter((event) => event.blockNumber <= block)
  }

  find(id: string): Event | undefined {
    return this.events.findLast((event) => event.id === id)
  }

  /** The events of a query, in its order; undefined if some of them may be older than what is kept. */
  read(query: EventQuery, isWanted: (event: Event) => boolean = () => true): Event[] | undefined {
    const { fromS = 0, toS = Number.MAX_SAFE_INTEGER, limit, sort } = query
    const isCovered = this.covers(query)
    const isForward = readsForward(query)
    if (isForward && !isCovered) return undefined
    const { events } = this
    const taken: Event[] = []
    const step = isForward ? 1 : -1
    for (let at = isForward ? 0 : events.length - 1; taken.length < limit; at += step) {
      const event = events[at]
      if (event === undefined) break
      if (event.timeS >= fromS && event.timeS <= toS && isIncluded(event, query) && isWanted(event)) taken.push(event)
    }
    if (!isCovered && taken.length < limit) return undefined
    return isForward === (sort === 'asc') ? taken : taken.reverse()
  }

  /** Whether everything after the start of the query is kept. */
  private covers({ fromS = 0, sort, after }: EventQuery): boolean {
    const { coveredAfter } = this
    if (coveredAfter === undefined || fromS > coveredAfter.timeS) return true
    return sort === 'asc' && after !== undefined && inOrder(after, coveredAfter) >= 0
  }

  private put(event: Event): void {
    const { events } = this
    if (this.coveredAfter !== undefined && inOrder(event, this.coveredAfter) < 0) return
    let at = events.length
    while (at > 0 && inOrder(events[at - 1] as Event, event) > 0) at -= 1
    const isKnown = events[at - 1]?.id === event.id
    events.splice(isKnown ? at - 1 : at, isKnown ? 1 : 0, event)
  }
}
