/** A block's events in the making, in the order they are added: by transaction, then by instruction as they ran. */
import type { Event } from '../../../../core/domain/records.js'
import type { PlacelessEvent } from '../../evm/block/event-list.js'

export type { PlacelessEvent } from '../../evm/block/event-list.js'

/** `order`: of the instruction it came from. */
export type EventPlace = { txIndex: number; order: number; signature: string }

export class EventList {
  private readonly events: Event[] = []
  private last = { txIndex: -1, order: -1, sub: 0 }

  /** One that goes back within its transaction stands right after the last instead. */
  add({ txIndex, order, signature }: EventPlace, event: PlacelessEvent): void {
    const { last } = this
    const isSame = txIndex === last.txIndex && order <= last.order
    last.sub = isSame ? last.sub + 1 : 0
    if (!isSame) last.order = order
    last.txIndex = txIndex
    // The event is the list's own, so its place is added to it: a copy of ever differing shapes takes as long as decoding it.
    const made = event as Event
    made.tx_index = txIndex
    made.log_index = last.order
    made.sub = last.sub
    made.tx_hash = signature
    this.events.push(made)
  }

  finish(): Event[] {
    return this.events
  }
}
