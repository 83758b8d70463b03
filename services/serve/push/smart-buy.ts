import type { Trade } from '../../core/domain/records.js'
import { targetOf } from '../views/market-facts.js'
import type { PairEntry, UpdateSnapshot } from './update-snapshot.js'

/** The buy of an update with which enough smart wallets have bought its token; undefined: there is none. A token has at most one at a time. */
export function smartBuyOf(
  { smartBuys }: Pick<UpdateSnapshot, 'smartBuys'>,
  { at, trades }: Pick<PairEntry, 'at' | 'trades'>,
): Trade | undefined {
  return smartBuys && trades.find(({ id }) => smartBuys.isSignal(at.chain, targetOf(at.pair), at.pair.pair, id))
}
