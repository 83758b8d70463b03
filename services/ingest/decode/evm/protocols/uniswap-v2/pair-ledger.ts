/**
 * Reserves of a pair that tells them itself: a Sync states them and comes right before the Swap, Mint or Burn it belongs to. A Sync
 * that none of its transaction's logs claims is a change without a trade: a donation, a rebase, a skim.
 */

import { completeEvent, type EventDraft } from '../../event-draft.js'
import type { EvmLog } from '../../log.js'
import type { Applied, VenueEvent } from '../../protocol.js'
import type { VenueState } from '../../venue.js'

export type PairState = VenueState & {
  /** The transaction's last Sync, as long as nothing claimed it. */
  unclaimed: { log: EvmLog; before: VenueState['reserves'] } | null
}

export function pairState(reserves: VenueState['reserves']): PairState {
  return { reserves, unclaimed: null }
}

export function sync(log: EvmLog, state: PairState, reserves: readonly bigint[]): Applied<PairState> {
  return {
    state: { reserves, unclaimed: { log, before: state.reserves } },
    events: leftover(state),
  }
}

export function claim(log: EvmLog, state: PairState, draft: EventDraft): Applied<PairState> {
  return {
    state: { reserves: state.reserves, unclaimed: null },
    events: [completeEvent(draft, log, state.reserves)],
  }
}

export function settle(state: PairState): Applied<PairState> {
  return { state: pairState(state.reserves), events: leftover(state) }
}

function leftover({ reserves, unclaimed }: PairState): readonly VenueEvent[] {
  if (unclaimed === null || reserves === null) return []
  const { log, before } = unclaimed
  if (before !== null && reserves.every((reserve, place) => reserve === before[place])) return []
  // A Sync names nobody; the pool itself is the one that told.
  return [{ kind: 'reserves', sender: log.address, log, reserves }]
}
