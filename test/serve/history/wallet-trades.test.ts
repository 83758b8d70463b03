/** A wallet's trades are the surviving ones, whatever part of the history is stored, in memory, or in both. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createQueryLanes, type QueryLanes } from '../../../services/serve/history/query-lanes.js'
import { createWalletHistory } from '../../../services/serve/history/wallet-trades.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain, trimFlushed } from '../../../services/serve/memory/served-chain.js'
import { isLongRun } from '../../rig/counts.js'
import { storeOfFile } from '../rig.js'
import { storeRows } from '../stored-steps.js'
import { type FoldedStep, foldSteps, type Made, type Step, steps } from '../trade-history.js'

const store = storeOfFile('wallets')
let runs = 0

const byTime = (a: Made, b: Made) => a.timeS - b.timeS || a.block - b.block || a.trade.log_index - b.trade.log_index

/** `stored`: how much is in the store; `known`: how much of that memory knows to be stored. */
async function expectSurvivors(list: Step[], stored: number, known: number): Promise<void> {
  runs += 1
  const chain = `wallets${runs}`
  const folded = foldSteps(chain, list)
  const storedCount = Math.round(stored * folded.length)
  const rows = folded.slice(0, storedCount)
  // As after a crash: what was written is written again, in other batches.
  await storeRows(store(), chain, rows.slice(0, Math.round(rows.length / 2)))
  await storeRows(store(), chain, rows)
  const state = createServedChain(chain)
  for (const { update } of folded) applyUpdate(state, update, 1)
  const flushed = folded[Math.round(known * storedCount) - 1]
  if (flushed !== undefined) trimFlushed(state, { epoch: flushed.update.epoch, seq: flushed.update.seq })
  const history = createWalletHistory(createQueryLanes(store()), async () => {}, { holdMs: 0, nowMs: () => 0 })
  const { made } = folded.at(-1) as FoldedStep
  for (const wallet of ['ann', 'ben', 'cy']) {
    const own = made.filter(({ trade }) => trade.wallet === wallet).sort(byTime)
    const read = await history.trades(state, { wallet, limit: 1000, sort: 'asc' })
    expect(read.map(({ id, pair, timeS }) => [id, pair, timeS])).toEqual(
      own.map(({ trade, pair, timeS }) => [trade.id, pair, timeS]),
    )
    expect(await history.count(state, { wallet })).toBe(own.length)
    const sums = await history.sums(state, { wallet })
    for (const pair of new Set([...sums.keys(), ...own.map((one) => one.pair)])) {
      const mine = own.filter((one) => one.pair === pair).map(({ trade }) => trade)
      const amount = (sell: boolean) =>
        mine
          .filter((trade) => trade.sell === sell)
          .reduce((sum, trade) => sum + BigInt(sell ? trade.amount_in : trade.amount_out), 0n)
      const found = sums.get(pair)
      expect([pair, found?.buys.amount ?? 0n, found?.sells.amount ?? 0n]).toEqual([pair, amount(false), amount(true)])
      expect((found?.buys.count ?? 0) + (found?.sells.count ?? 0)).toBe(mine.length)
    }
    const last = own.at(-1)
    if (last === undefined) continue
    const place = await history.find(state, wallet, last.trade.id)
    const before = await history.trades(state, { wallet, limit: 1000, sort: 'desc', before: place })
    expect(before.map(({ id }) => id)).toEqual(
      own
        .slice(0, -1)
        .reverse()
        .map(({ trade }) => trade.id),
    )
  }
}

it('reads and sums exactly the surviving trades', async () => {
  const share = fc.constantFrom(0, 0.3, 0.7, 1)
  const property = fc.asyncProperty(steps(0), share, share, expectSurvivors)
  await fc.assert(property, { numRuns: isLongRun() ? 100 : 8, seed: 19 })
}, 120_000)

it('leaves out a swap whose place another wallet took after a reorg', async () => {
  const swap = { pair: 0, sell: false, flags: 0, price: 2, amount: 5 }
  const block = (wallet: string): Step => ({ kind: 'block', forwardS: 1, swaps: [{ ...swap, wallet }] })
  const list: Step[] = [block('cy'), block('ann'), { kind: 'retract', depth: 1 }, block('ben')]
  await expectSurvivors(list, 1, 1)
  await expectSurvivors(list, 1, 0)
  await expectSurvivors([...list, { kind: 'retract', depth: 1 }, block('ann')], 1, 1)
})

it('waits for a flush that another request began before it reads balances', async () => {
  const order: string[] = []
  let finish = () => {}
  const flush = () =>
    new Promise<void>((resolve) => {
      finish = () => {
        order.push('flushed')
        resolve()
      }
    })
  const query = async () => {
    order.push('read')
    return []
  }
  const lanes = { cheap: { query }, dear: { query } } as unknown as QueryLanes
  const history = createWalletHistory(lanes, flush, { holdMs: 1000, nowMs: () => 0 })
  const both = [1, 2].map(() => history.balances(createServedChain('eth'), '0xa1'))
  finish()
  await Promise.all(both)
  expect(order).toEqual(['flushed', 'read', 'read'])
})
