/** Collects a block's events and numbers them. */
import type { ChainFamily } from '../../../services/core/domain/chains.js'
import type { RecordingEvent } from '../reference/lines.js'
import { hashOf } from './addresses.js'
import type { Random } from './random.js'

type Placed = 'tx_index' | 'log_index' | 'sub' | 'tx_hash'
type Unplaced<E> = E extends RecordingEvent ? Omit<E, Placed> : never
export type EventFacts = Unplaced<RecordingEvent>

export type BlockWriter = {
  /** Starts the next transaction. */
  transaction(): void
  /** Adds an event at the transaction's next log. */
  add(facts: EventFacts): void
  /** Adds an event to the same log as the one before, with its own `sub`. */
  addToSameLog(facts: EventFacts): void
  events(): RecordingEvent[]
}

export function createBlockWriter(family: ChainFamily, random: Random, blockHash: string): BlockWriter {
  const events: RecordingEvent[] = []
  let txIndex = -1
  let logIndex = -1
  let sub = 0
  function place(facts: EventFacts): void {
    const tx_hash = hashOf(family, `${blockHash}/${txIndex}`)
    const at = { tx_index: txIndex, log_index: logIndex, tx_hash, ...(sub === 0 ? {} : { sub }) }
    events.push({ ...facts, ...at } as RecordingEvent)
  }
  return {
    transaction() {
      txIndex += random.int(1, 3)
      // EVM logs are numbered across the block; elsewhere instructions are numbered within each transaction.
      if (family !== 'evm') logIndex = -1
    },
    add(facts) {
      logIndex += random.int(1, 2)
      sub = 0
      place(facts)
    },
    addToSameLog(facts) {
      sub++
      place(facts)
    },
    events: () => events,
  }
}
