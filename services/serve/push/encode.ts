import type { Update } from '../../core/domain/records.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { Applied } from '../memory/apply.js'
import { cursorOf } from './cursor.js'
import { pushMainPairSwitch } from './main-pair-switch.js'
import { createOpenCandles, type OpenCandles } from './open-candles.js'
import { pushRetractNotice } from './retract-notice.js'
import type { PairPusher, Publisher, PushContext } from './topic.js'
import { createKlinePusher, klineResult } from './topics/kline.js'
import { pushPrice } from './topics/price.js'
import { pushTrades, skipLiquidity } from './topics/tx.js'

/** How many numbered pushes an update could make, whoever listens: the number of its last one. */
export function countPushes({ retracted, pairs, main_pair_changes }: Update): number {
  const perPair = pairs.reduce(
    (sum, { trades, liquidity, candles }) => sum + trades.length + liquidity.length + candles.length + 1,
    0,
  )
  return retracted.length + perPair + main_pair_changes.length
}

/** Turns applied updates into pushes, in this order: closing candles, what never was, each pair's news, main pairs. */
export function createEncoder(chains: ChainDirectory, out: Publisher): (applied: Applied) => void {
  const openByChain = new Map<string, { epoch: number; open: OpenCandles; pushers: PairPusher[] }>()

  function chainOf(chain: string, epoch: number) {
    const known = openByChain.get(chain)
    if (known?.epoch === epoch) return known
    const open = createOpenCandles()
    const made = { epoch, open, pushers: [pushTrades, skipLiquidity, createKlinePusher(open), pushPrice] }
    openByChain.set(chain, made)
    return made
  }

  return (applied) => {
    const { update, state } = applied
    const market = chains.market(state.chain)
    if (market === undefined) return
    const { open, pushers } = chainOf(state.chain, update.epoch)
    const context: PushContext = { applied, market, out, cursor: cursorOf(update) }
    closeCandles(context, open)
    endCandles(context, open)
    let n = 1
    for (const gone of update.retracted) pushRetractNotice(context, gone, n++)
    for (const pair of update.pairs) for (const pusher of pushers) n = pusher(context, pair, n)
    for (const change of update.main_pair_changes) pushMainPairSwitch(context, change, n++)
  }
}

/** Which candles close depends on who listened: they share number 0, before all an update's own pushes. */
function closeCandles({ market, out, cursor }: PushContext, open: OpenCandles): void {
  for (const { channel, pair, candle } of open.takeEnded(market.state.nowS)) {
    const state = market.state.pairs.get(pair)
    if (state === undefined || !out.isWanted(channel)) continue
    const result = klineResult(market, state, candle, { final: true }, cursor(0))
    out.publish([channel], { topic: 'kline', result, mergeKey: `${channel}@${candle.time}`, sentTime: true })
  }
}

/** A pair that never was has no entry of its own to end its candles. */
function endCandles({ applied, market, out, cursor }: PushContext, open: OpenCandles): void {
  const told = new Set(applied.update.pairs.map(({ pair }) => pair))
  for (const [pair, state] of applied.gone) {
    for (const { channel, candle } of open.takeOf(pair)) {
      if (told.has(pair) || !out.isWanted(channel)) continue
      const result = klineResult(market, state, candle, { removed: true }, cursor(0))
      out.publish([channel], { topic: 'kline', result, mergeKey: `${channel}@${candle.time}`, sentTime: true })
    }
  }
}
