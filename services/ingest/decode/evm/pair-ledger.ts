/**
 * Reserves of a pair that tells them itself: a Sync states them and comes right before the Swap, Mint or Burn it belongs to. A Sync
 * that none of its transaction's logs claims is a change without a trade: a donation, a rebase, a skim.
 */
import type { EvmLog } from './log.js'
import type { Applied, Happening } from './protocol.js'
import type { VenueState } from './venue.js'

export type PairState = VenueState & {
  /** The transaction's last Sync, as long as nothing claimed it. */
  unclaimed: { log: EvmLog; before: VenueState['reserves'] } | null
}

export type TradeOrLiquidity = Saying<Happening>
type Saying<H> = H extends { kind: 'swap' | 'liquidity' | 'reserves' } ? Omit<H, 'log' | 'reserves'> : never

export function pairState(reserves: VenueState['reserves']): PairState {
  return { reserves, unclaimed: null }
}

export function sync(log: EvmLog, state: PairState, reserves: readonly bigint[]): Applied<PairState> {
  return {
    state: { reserves, unclaimed: { log, before: state.reserves } },
    happenings: leftover(state),
  }
}

export function claim(log: EvmLog, state: PairState, says: TradeOrLiquidity): Applied<PairState> {
  return {
    state: { reserves: state.reserves, unclaimed: null },
    happenings: [happeningOf(says, log, state.reserves)],
  }
}

/** A refused Swap, Mint or Burn takes its Sync with it: the reserves hold, but they were no change without a trade. */
export function refuse(state: PairState, isSync: boolean): PairState {
  return pairState(isSync ? null : state.reserves)
}

export function settle(state: PairState): Applied<PairState> {
  return { state: pairState(state.reserves), happenings: leftover(state) }
}

/** Field by field: the hottest line of a backfill, and a spread of shapes that differ costs several times as much. */
export function happeningOf(says: TradeOrLiquidity, log: EvmLog, reserves: VenueState['reserves']): Happening {
  const { kind, sender } = says
  if (kind === 'reserves') return { kind, sender, log, reserves }
  if (kind === 'liquidity') return { kind, change: says.change, sender, amounts: says.amounts, log, reserves }
  const { recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice } = says
  if (sqrtPrice === undefined) return { kind, sender, recipient, tokenIn, tokenOut, amountIn, amountOut, log, reserves }
  return { kind, sender, recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice, log, reserves }
}

function leftover({ reserves, unclaimed }: PairState): readonly Happening[] {
  if (unclaimed === null || reserves === null) return []
  const { log, before } = unclaimed
  if (before !== null && reserves.every((reserve, place) => reserve === before[place])) return []
  // A Sync names nobody; the pool itself is the one that told.
  return [{ kind: 'reserves', sender: log.address, log, reserves }]
}
