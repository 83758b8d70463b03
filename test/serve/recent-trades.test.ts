import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyUpdate } from '../../services/serve/memory/apply-update.js'
import { createServedChain } from '../../services/serve/memory/served-chain.js'
import { naiveAnswers, servedAnswers } from './second-windows.js'
import { foldSteps, type Step, steps } from './trade-history.js'
import { CHAIN, firstUpdate, PAIR, pairUpdate, T0, trade, update } from './updates.js'

describe('windows with second precision', () => {
  it('equal a count over all surviving trades, for any times, reorgs and pruning', () => {
    const follow = (list: Step[]) => {
      const state = createServedChain(CHAIN)
      for (const { update: next, made } of foldSteps(CHAIN, list)) {
        expect(applyUpdate(state, next, 1).kind).toBe('applied')
        expect(servedAnswers(state)).toEqual(naiveAnswers(made, next.now))
      }
    }
    fc.assert(fc.property(fc.oneof(steps(30), steps(3600)), follow), { numRuns: 250 })
  })

  it('keep only the trades of the minutes before the last final block', () => {
    const state = createServedChain(CHAIN)
    applyUpdate(state, firstUpdate(), 1)
    for (let n = 1; n <= 3000; n += 1) {
      const time = T0 + n * 2
      const block = { seq: n + 1, number: 100 + n, time, now: time, finalized_number: 36 + n }
      applyUpdate(state, update({ ...block, pairs: [traded(n)] }), 1)
    }
    expect(state.recent.size).toBeLessThanOrEqual((300 + 2 * 64 + 60) / 2 + 1)
    applyUpdate(
      state,
      update({ seq: 3002, number: 4000, finalized_number: 4000, time: T0 + 90_000, now: T0 + 90_000 }),
      1,
    )
    expect(state.recent.size).toBe(0)
  })

  it('are empty in a new epoch', () => {
    const state = createServedChain(CHAIN)
    applyUpdate(state, firstUpdate([trade()]), 1)
    applyUpdate(state, { ...firstUpdate(), epoch: 2 }, 1)
    expect(servedAnswers(state)).toMatchObject({ [`1m ${PAIR}`]: { buys: 0, price_before: 2 } })
  })
})

const traded = (n: number) => pairUpdate({ info: null, trades: [trade({ id: `${100 + n}-0`, wallet: `w${n}` })] })
