/** A block's events in the making: each at its log's place, what opens the block before everything else. */
import type { Event } from '../../../../core/domain/records.js'
import type { EvmLog } from '../log.js'

/** An event without its place. */
export type PlacelessEvent = Event extends infer Each
  ? Each extends Event
    ? Omit<Each, 'tx_index' | 'log_index' | 'sub' | 'tx_hash'>
    : never
  : never

type Entry = { txIndex: number; logIndex: number; txHash: string; event: PlacelessEvent }

export class EventList {
  private readonly entries: Entry[] = []

  add(log: EvmLog, event: PlacelessEvent): void {
    this.entries.push({ txIndex: log.txIndex, logIndex: log.logIndex, txHash: log.txHash, event })
  }

  /** Facts that hold before the block's first log; `log` is the one that made them known. */
  open(log: EvmLog, event: PlacelessEvent): void {
    this.entries.push({ txIndex: -1, logIndex: -1, txHash: log.txHash, event })
  }

  /** In order, each with a place of its own. */
  finish(): Event[] {
    const sorted = this.entries.sort((a, b) => a.txIndex - b.txIndex || a.logIndex - b.logIndex)
    let last = { tx_index: -1, log_index: -1, sub: 0 }
    return sorted.map(({ txIndex, logIndex, txHash, event }) => {
      const place = { tx_index: Math.max(0, txIndex), log_index: Math.max(0, logIndex) }
      const isSame = place.tx_index === last.tx_index && place.log_index === last.log_index
      last = { ...place, sub: isSame ? last.sub + 1 : 0 }
      return placed(event, last, txHash)
    })
  }
}

type Place = Pick<Event, 'tx_index' | 'log_index' | 'sub'>

/** The event is the list's own, so its place is added to it: a copy of ever differing shapes takes as long as decoding the log. */
function placed(event: PlacelessEvent, { tx_index, log_index, sub }: Place, txHash: string): Event {
  const made = event as Event
  made.tx_index = tx_index
  made.log_index = log_index
  made.sub = sub
  made.tx_hash = txHash
  return made
}
