/** A node started from the store gives the same answers as one that applied every update. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyUpdate } from '../../services/serve/memory/apply-update.js'
import { loadChain } from '../../services/serve/memory/load-chain.js'
import { loadRecentTrades } from '../../services/serve/memory/load-recent.js'
import { createServedChain, type ServedChain } from '../../services/serve/memory/served-chain.js'
import { isLongRun } from '../rig/counts.js'
import { storeOfFile } from './rig.js'
import { servedAnswers } from './second-windows.js'
import { storeProgress, storeRows, versionOf } from './stored-steps.js'
import { type FoldedStep, foldSteps, PAIRS, type Step, type Swap, steps, swap } from './trade-history.js'

const store = storeOfFile('recent')
let runs = 0

async function load(chain: string): Promise<ServedChain> {
  const state = await loadChain(store(), chain)
  if (state === undefined) throw new Error('nothing was stored')
  return state
}

/** `ahead`: updates whose rows are stored beyond the stored progress. */
async function expectSameAfterRestart(before: Step[], after: Step[], ahead: number): Promise<void> {
  runs += 1
  const chain = `chain${runs}`
  const folded = foldSteps(chain, [...before, ...after])
  const cut = before.length
  const flushed = Math.min(folded.length, cut + 1 + ahead)
  await storeRows(store(), chain, folded.slice(0, flushed))
  await storeProgress(store(), chain, folded[cut] as FoldedStep)
  const restarted = await load(chain)
  const running = createServedChain(chain)
  for (const [index, { update }] of folded.entries()) {
    applyUpdate(running, update, 1)
    if (index > cut) applyUpdate(restarted, update, 1)
    if (index >= flushed - 1) expect(servedAnswers(restarted)).toEqual(servedAnswers(running))
  }
}

const RUNS = { numRuns: isLongRun() ? 25 : 8 }

it('has the same windows, including those of idle pairs', async () => {
  await fc.assert(fc.asyncProperty(steps(0), steps(0), fc.nat(3), expectSameAfterRestart), RUNS)
})

it('has the same windows when time goes back by minutes, for pairs with a recent good trade', async () => {
  const swaps: Swap[] = PAIRS.map((_, pair) => ({ pair, wallet: 'ann', sell: false, flags: 0, price: 7, amount: 3 }))
  const last: Step = { kind: 'block', forwardS: 1, swaps }
  const run = (before: Step[], after: Step[]) => expectSameAfterRestart([...before, last], after, 0)
  await fc.assert(fc.asyncProperty(steps(300), steps(300), run), RUNS)
})

it('has the same windows for any page size when reading trades', async () => {
  const [swaps] = fc.sample(fc.array(swap, { minLength: 30, maxLength: 30 }), { numRuns: 1, seed: 1 })
  const folded = foldSteps(
    'paged',
    [1, 2, 3].map((forwardS): Step => ({ kind: 'block', forwardS, swaps: swaps ?? [] })),
  )
  await storeRows(store(), 'paged', folded)
  await storeProgress(store(), 'paged', folded.at(-1) as FoldedStep)
  const state = await load('paged')
  const whole = servedAnswers(state)
  expect(state.recent.size).toBe(90)
  for (const pageRows of [1, 7, 90]) {
    state.recent.clear()
    await loadRecentTrades(store(), state, String(versionOf(folded.length)), 0, pageRows)
    expect([state.recent.size, servedAnswers(state)]).toEqual([90, whole])
  }
})
