/**
 * Reserves of a pair that publishes them: a Sync states them right before the Swap, Mint or Burn it belongs to. A Sync
 * that no other log of its transaction claims is a change without a trade: a donation, a rebase, a skim.
 */

import { completeEvent, type EventDraft } from '../../event-draft.js'
import type { EvmLog } from '../../log.js'
import type { Applied, VenueEvent } from '../../protocol.js'
import type { VenueState } from '../../venue.js'

export type PairState = VenueState & {
  /** The transaction's last Sync, until a log claims it. */
  unclaimed: { log: EvmLog; before: VenueState['reserves'] } | null
}

export function pairState(reserves: VenueState['reserves']): PairState {
  return { reserves, unclaimed: null }
}

export function sync(log: EvmLog, state: PairState, reserves: readonly bigint[]): Applied<PairState> {
  return {
    state: { reserves, unclaimed: { log, before: state.reserves } },
    events: unclaimedEvents(state),
  }
}

export function claim(log: EvmLog, state: PairState, draft: EventDraft): Applied<PairState> {
  return {
    state: { reserves: state.reserves, unclaimed: null },
    events: [completeEvent(draft, log, state.reserves)],
  }
}

/** A refused Swap, Mint or Burn takes its Sync with it: the reserves hold, but they did not change without a trade. */
export function refuse(state: PairState, isSync: boolean): PairState {
  return pairState(isSync ? null : state.reserves)
}

export function settle(state: PairState): Applied<PairState> {
  return { state: pairState(state.reserves), events: unclaimedEvents(state) }
}

function unclaimedEvents({ reserves, unclaimed }: PairState): readonly VenueEvent[] {
  if (unclaimed === null || reserves === null) return []
  const { log, before } = unclaimed
  if (before !== null && reserves.every((reserve, place) => reserve === before[place])) return []
  // A Sync names no sender: use the pool.
  return [{ kind: 'reserves', sender: log.address, log, reserves }]
}
