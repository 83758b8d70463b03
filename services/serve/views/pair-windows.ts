import type { WindowName } from '../../core/domain/chains.js'
import type { Window } from '../../core/domain/records.js'
import type { PairState } from '../memory/chain-state.js'
import { windowOf } from '../memory/windows.js'
import { percentChange } from '../numbers/change.js'
import { decimalOrNull } from '../numbers/plain-decimal.js'

/** As of the chain's now: a pair whose window lost a trade is told again, traded or not. */
export function pairWindow(pair: PairState, name: WindowName): Window {
  return windowOf(pair.windows, name)
}

/** Percent against the last good price before the window; none before it: against the pair's first good price. */
export function pairChangeNumber(pair: PairState, name: WindowName): number {
  const before = pairWindow(pair, name).price_before
  return percentChange(Number.isNaN(before) ? pair.open_price_usd : before, pair.price_usd)
}

export function pairChange(pair: PairState, name: WindowName): string | null {
  return decimalOrNull(pairChangeNumber(pair, name))
}
