/** What clients must have got while a chain was switched to replays of it: each push once, and a notice of each new epoch. */
import { expect } from 'vitest'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import type { Listener } from './listeners.js'
import { pushedUpdates, swapsOf, updateOf } from './pushed-swaps.js'

const seqOf = (cursor: string): number => Number(cursor.split(':')[2])

/** Of a chain: all of its updates in the order of the log. `end`: the last seq that is compared. Returns the switches. */
export function expectPushes(
  listeners: readonly Listener[],
  updates: readonly BlockUpdate[],
  end = Number.POSITIVE_INFINITY,
): BlockUpdate[] {
  const switches = updates.filter(({ epoch }, at) => at > 0 && updates[at - 1]?.epoch !== epoch)
  const pushed = pushedUpdates(updates).filter(({ seq }) => seq <= end)
  const retracting = new Set(updates.flatMap(({ seq, kind }) => (kind === 'retract' ? [seq] : [])))
  for (const { chain, since, cursors, retracts, gaps, others } of listeners) {
    const isCounted = (cursor: string) => seqOf(cursor) > seqOf(since) && seqOf(cursor) <= end
    const got = cursors.filter(isCounted)
    expect([new Set(got).size, new Set(retracts).size]).toEqual([got.length, retracts.length])
    expect(got.map(updateOf)).toEqual(swapsOf(pushed.filter(({ seq }) => seq > seqOf(since))))
    // Which retracts are due is the same for all of a chain's clients.
    const due = (listeners[0]?.retracts ?? []).filter((cursor) => isCounted(cursor) && retracting.has(seqOf(cursor)))
    expect(retracts.filter(isCounted)).toEqual(due)
    expect({ gaps, others }).toEqual({
      ...{ gaps: switches.map(({ epoch, seq }) => `${epoch}:${chain}:${seq}:0`), others: [] },
    })
  }
  return switches
}
