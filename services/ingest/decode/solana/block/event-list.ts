/** A block's events in the making, in the order they are added: by transaction, then by instruction as they ran. */
import type { Event } from '../../../../core/domain/records.js'

type Of = { index: number; signature: string }

export class EventList {
  private readonly events: Event[] = []
  private txIndex = -1
  private order = -1
  private sub = 0

  /** Gives it its place. One that would go back within its transaction stands right after the last instead. */
  add({ index, signature }: Of, order: number, event: Event): void {
    const isSame = index === this.txIndex && order <= this.order
    this.sub = isSame ? this.sub + 1 : 0
    if (!isSame) this.order = order
    this.txIndex = index
    event.tx_index = index
    event.log_index = this.order
    event.sub = this.sub
    event.tx_hash = signature
    this.events.push(event)
  }

  finish(): Event[] {
    return this.events
  }
}
