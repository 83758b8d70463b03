import type { WindowName } from '../../core/domain/chains.js'
import type { Window } from '../../core/domain/records.js'
import type { PairState } from '../memory/chain-state.js'
import { COUNTED_WINDOW_S, isCounted, windowOf } from '../memory/windows.js'
import { percentChange } from '../numbers/change.js'
import type { Market } from './market.js'

/** As of the chain's now: a pair whose window to the minute lost a trade is told again, traded or not. */
export function pairWindow({ state }: Market, pair: PairState, name: WindowName): Window {
  if (!isCounted(name)) return windowOf(pair.windows, name)
  return state.recent.pairWindow(pair, COUNTED_WINDOW_S[name], state.nowS)
}

/** Percent against the last good price before the window; none before it: against the pair's first good price. */
export function changeOver(pair: PairState, { price_before: before }: Window): number {
  return percentChange(Number.isNaN(before) ? pair.open_price_usd : before, pair.price_usd)
}
