import { describe, expect, it } from 'vitest'
import { packCandles } from '../../services/core/domain/packed-candles.js'
import { packWindows, windowOf } from '../../services/core/domain/packed-windows.js'
import { UnpackedCandles } from '../../services/core/domain/pair-events.js'
import { applyUpdate } from '../../services/serve/memory/apply-update.js'
import { createCandleOverlay } from '../../services/serve/memory/candle-overlay.js'
import { createServedChain } from '../../services/serve/memory/served-chain.js'
import {
  CHAIN,
  candle,
  firstUpdate,
  OTHER_PAIR,
  PAIR,
  pairUpdate,
  T0,
  TOKEN,
  tokenUpdate,
  update,
  updateWindows,
} from './updates.js'

const applied = () => {
  const state = createServedChain(CHAIN)
  expect(applyUpdate(state, firstUpdate(), 1).kind).toBe('applied')
  return state
}

describe('applying updates', () => {
  it('keeps a pair’s description when later entries omit it', () => {
    const state = applied()
    applyUpdate(state, update({ seq: 2, pairs: [pairUpdate({ info: null, price_usd: 2.25 })] }), 2)
    expect(state.pairs.get(PAIR)).toMatchObject({ price_usd: 2.25, info: { amm: 'uniswapv2' } })
    expect(state.pairs.get(PAIR)).not.toHaveProperty('trades')
  })

  it('ignores a seq it has already applied', () => {
    const state = applied()
    const again = update({ seq: 1, number: 7, pairs: [pairUpdate({ price_usd: 9 })] })
    expect(applyUpdate(state, again, 2)).toEqual({ kind: 'seen' })
    expect(state.head.number).toBe(100)
    expect(state.pairs.get(PAIR)?.price_usd).toBe(2)
  })

  it('reports a gap in seq and applies the update', () => {
    const state = applied()
    const outcome = applyUpdate(state, update({ seq: 5, number: 104 }), 2)
    expect(outcome).toMatchObject({ kind: 'applied', applied: { missingUpdates: 3 } })
    expect(state).toMatchObject({ gaps: 1, lastGap: { epoch: 1, after: 1, before: 5 }, head: { number: 104 } })
  })

  it('reports a missing beginning of an epoch', () => {
    const state = createServedChain(CHAIN)
    expect(applyUpdate(state, update({ seq: 10 }), 1)).toMatchObject({ applied: { missingUpdates: 9 } })
  })

  it('resets on a newer epoch and ignores an older one', () => {
    const state = applied()
    expect(applyUpdate(state, update({ epoch: 0, seq: 99 }), 2).kind).toBe('stale')
    applyUpdate(state, update({ epoch: 2, seq: 1 }), 2)
    expect([state.epoch, state.pairs.size, state.tokens.size, state.candles.size]).toEqual([2, 0, 0, 0])
    expect(state.targetPairs.of(TOKEN)).toEqual([])
  })

  it('restores pairs on a retract, removes orphaned ones and records the reorg', () => {
    const state = applied()
    applyUpdate(
      state,
      update({ seq: 2, number: 103, pairs: [pairUpdate({ price_usd: 5, candles: [candle({ close_u: 5 })] })] }),
      2,
    )
    const outcome = applyUpdate(
      state,
      update({
        seq: 3,
        kind: 'retract',
        number: 101,
        pairs: [pairUpdate({ price_usd: 2, candles: [candle({ removed: true })] })],
        retracted: [
          { pair: PAIR, ids: ['102-1'], gone: false },
          { pair: OTHER_PAIR, ids: [], gone: true },
        ],
        gone_tokens: [TOKEN],
      }),
      3,
    )
    expect(outcome).toMatchObject({ kind: 'applied' })
    expect([...state.pairs.keys()]).toEqual([PAIR])
    expect(state.targetPairs.of(TOKEN)).toEqual([PAIR])
    expect(state.tokens.has(TOKEN)).toBe(false)
    expect(state.candles.of(PAIR, 'k1').get(T0)).toMatchObject({ removed: true })
    expect(state.candles.isHidden(OTHER_PAIR)).toBe(true)
    expect(state.lastReorg).toEqual({ at_block: 103, to_block: 101, depth: 2, time: T0 + 1 })
  })

  it('applies a main pair change when the token’s entry omits it', () => {
    const state = applied()
    const change = { token: TOKEN, old_pair: PAIR, new_pair: OTHER_PAIR }
    applyUpdate(state, update({ seq: 2, tokens: [tokenUpdate({ info: null })], main_pair_changes: [change] }), 2)
    expect(state.tokens.get(TOKEN)).toMatchObject({ main_pair: OTHER_PAIR, info: { symbol: 'TKN' } })
  })
})

describe('the candle overlay', () => {
  it('holds the newest state of each candle that is not flushed', () => {
    const overlay = createCandleOverlay()
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle({ close_u: 1 })])), { epoch: 1, seq: 1 })
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle({ time: T0 + 60 })])), { epoch: 1, seq: 2 })
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle({ close_u: 2 })])), { epoch: 1, seq: 3 })
    overlay.trim({ epoch: 1, seq: 2 })
    expect([...overlay.of(PAIR, 'k1').values()].map((one) => one.close_u)).toEqual([2])
    overlay.trim({ epoch: 1, seq: 3 })
    expect([overlay.size, overlay.of(PAIR, 'k1').size]).toEqual([0, 0])
  })

  it('drops the candles of an orphaned pair before the pair is created again', () => {
    const overlay = createCandleOverlay()
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle({ interval: 's1' })])), { epoch: 1, seq: 1 })
    overlay.hidePair(PAIR, { epoch: 1, seq: 2 })
    expect([overlay.size, overlay.of(PAIR, 's1').size, overlay.isHidden(PAIR)]).toEqual([0, 0, true])
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle({ interval: 's1' })])), { epoch: 1, seq: 3 })
    overlay.trim({ epoch: 1, seq: 2 })
    expect([overlay.size, overlay.isHidden(PAIR)]).toEqual([1, false])
  })

  it('ignores candles that are already stored and drops an older epoch', () => {
    const overlay = createCandleOverlay()
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle()])), { epoch: 1, seq: 50 })
    overlay.trim({ epoch: 2, seq: 1 })
    overlay.put(PAIR, new UnpackedCandles(packCandles([candle()])), { epoch: 2, seq: 1 })
    expect(overlay.size).toBe(0)
  })
})

describe('windows', () => {
  it('are unchanged by packing and unpacking', () => {
    const windows = updateWindows().map((one, index) => ({ ...one, buys: index, high: Number.NaN }))
    expect(windowOf(packWindows(windows), '24h')).toEqual(windows[3])
  })
})
