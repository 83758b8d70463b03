import { graduatedTo, signalOfLiquidity, signalOfTrade } from '../signals/signal-rules.js'
import { breakoutOf } from './breakout.js'
import { ANY_SIGNAL, ANY_WALLET } from './channels.js'
import { smartBuyOf } from './smart-buy.js'
import type { UpdateSnapshot } from './update-snapshot.js'

const kept = new WeakMap<UpdateSnapshot, ReadonlySet<string>>()

/**
 * Every pair, token and wallet that an update's pushes concern. Thousands of subscriptions replay the same updates, and most concern
 * none of their addresses: such an update is skipped without encoding it.
 */
export function addressesOf(update: UpdateSnapshot): ReadonlySet<string> {
  const known = kept.get(update)
  if (known !== undefined) return known
  const addresses = new Set<string>()
  for (const { pair } of update.closings) addresses.add(pair.pair)
  for (const { pair, tokens } of update.retracted) for (const address of [pair, ...tokens]) addresses.add(address)
  if (update.retracted.length > 0) addresses.add(ANY_WALLET).add(ANY_SIGNAL)
  for (const entry of update.entries) {
    const { at, trades, liquidity } = entry
    const { pair, info } = at.pair
    addresses.add(pair).add(info.token0).add(info.token1)
    for (const trade of trades) {
      addresses.add(trade.wallet)
      if (signalOfTrade(trade) !== undefined) addresses.add(ANY_SIGNAL)
    }
    if (breakoutOf(update, entry) !== undefined || smartBuyOf(update, entry) !== undefined) addresses.add(ANY_SIGNAL)
    const isGraduated = liquidity.length > 0 && graduatedTo(info.target === 0 ? at.info0 : at.info1, pair)
    for (const event of liquidity) {
      addresses.add(event.wallet)
      if (signalOfLiquidity(event, isGraduated) !== undefined) addresses.add(ANY_SIGNAL)
    }
  }
  for (const { change, at } of update.switches) {
    addresses.add(change.token).add(at.pair.pair)
    if (change.old_pair !== null) addresses.add(change.old_pair)
  }
  kept.set(update, addresses)
  return addresses
}
