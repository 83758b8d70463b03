import { cursorOf } from './cursor.js'
import { pushMainPairSwitch } from './main-pair-switch.js'
import type { Entry, Moment } from './update-snapshot.js'
import { pushRetractNotice } from './retract-notice.js'
import type { Publisher, PushContext } from './topic.js'
import { pushKline, pushKlines } from './topics/kline.js'
import { pushLiquidity } from './topics/liq.js'
import { pushTokenTrades } from './topics/multi-tx.js'
import { pushPrice } from './topics/price.js'
import { pushTrades } from './topics/tx.js'

/** Makes an update's pushes, in this order: candles that end, what never was, each pair's news, main pairs. */
export function encodeMoment(moment: Moment, out: Publisher): void {
  encodeClosings(moment, out)
  const context: PushContext = { moment, out, cursor: cursorOf(moment) }
  for (const retraction of moment.retracted) pushRetractNotice(context, retraction)
  for (const entry of moment.entries) pushEntry(context, entry)
  for (const one of moment.switches) pushMainPairSwitch(context, one)
}

/** Time closed them before anything of the update itself. */
function encodeClosings(moment: Moment, out: Publisher): void {
  const context: PushContext = { moment, out, cursor: cursorOf({ ...moment, seq: moment.seq - 1 }) }
  for (const { at, candle, isGone, n } of moment.closings) {
    if (!out.concerns(at.pair.pair)) continue
    pushKline(context, at, candle, isGone ? { removed: true } : { final: true }, n)
  }
}

/** A pair's trades come first, then its liquidity, its candles and its price. The same trade has one number on every topic. */
function pushEntry(context: PushContext, entry: Entry): void {
  const { pair, info } = entry.at.pair
  if (!context.out.concerns(pair, info.token0, info.token1)) return
  let n = entry.firstN
  pushTrades(context, entry, n)
  pushTokenTrades(context, entry, n)
  n += entry.trades.length
  pushLiquidity(context, entry, n)
  n += entry.liquidity.length
  pushKlines(context, entry, n)
  n += entry.candles.length
  pushPrice(context, entry, n)
}
