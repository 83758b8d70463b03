/** Collects a block's events: each at its log's position, those that open the block first. */
import type { Event } from '../../../../core/domain/records.js'
import type { EvmLog } from '../log.js'

export type Place = Pick<Event, 'tx_index' | 'log_index' | 'sub' | 'tx_hash'>

/** `sub` is set by the list. */
export function placeOf({ txIndex, logIndex, txHash }: EvmLog): Place {
  return { tx_index: txIndex, log_index: logIndex, sub: 0, tx_hash: txHash }
}

/** Before the block's first log; `log` is the one that revealed the fact. */
export function openingPlace({ txHash }: EvmLog): Place {
  return { tx_index: 0, log_index: 0, sub: 0, tx_hash: txHash }
}

export class EventList {
  private readonly opening: Event[] = []
  private readonly events: Event[] = []

  add(event: Event): void {
    this.events.push(event)
  }

  /** Facts that hold before the block's first log. */
  open(event: Event): void {
    this.opening.push(event)
  }

  /** In order, each at a unique position. */
  finish(): Event[] {
    const { opening, events } = this
    events.sort(byPlace)
    const all = opening.length === 0 ? events : opening.concat(events)
    let before: Event | undefined
    for (const event of all) {
      // Most are alone at their position, where it is 0 already.
      if (before !== undefined && byPlace(event, before) === 0) event.sub = before.sub + 1
      before = event
    }
    return all
  }
}

function byPlace(a: Event, b: Event): number {
  return a.tx_index - b.tx_index || a.log_index - b.log_index
}
