import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { FoldResult } from '../../services/aggregate/fold/block-changes.js'
import { encodeRows, type RowFacts, rowFactsOf } from '../../services/aggregate/sink/encode-rows.js'
import { RowBatch } from '../../services/aggregate/sink/row-batch.js'
import { createSink } from '../../services/aggregate/sink/sink.js'
import type { Store } from '../../services/core/store/port.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'

const NO_FACTS: RowFacts = {
  ...{ pair: () => undefined, token: () => undefined, mainPrices: () => undefined, finalNowS: () => 0 },
}

it('a flush fails if a write before it failed, also when nothing is left to write', async () => {
  const away = { insertRows: () => Promise.reject(new Error('the store is away')) } as unknown as Store
  const sink = createSink('eth', away, NO_FACTS, { flushEveryMs: 0, flushRows: 1 }, 0)
  const [block] = foldLines(startFold(marketMoney('eth')), generateRecording({ seed: 1, chain: 'eth', blocks: 1 }))
  sink.add(block as FoldResult)
  await sink.flushWhenDue(1)
  await nextTurn()
  await expect(sink.flush()).rejects.toThrow('the store is away')
})

it.each([1, 2, 3])('batches in the memory of earlier ones have the same rows (seed %i)', async (seed) => {
  const fold = startFold(marketMoney('eth'))
  const lines = generateRecording({
    seed,
    chain: 'eth',
    blocks: 60,
    options: { retracts: { probability: 0.1, maxDepth: 3 } },
  })
  const facts = rowFactsOf(fold.state)
  const batches = split(foldLines(fold, lines), seed)
  const expected = batches.map((results) => {
    const batch = new RowBatch('eth')
    for (const result of results) batch.add(result)
    return encodeRows('eth', batch, facts).map(({ table, rows }) => [table, textOf(rows)])
  })
  let stored: unknown[] = []
  const store = { insertRows: async (table: string, rows: Uint8Array) => stored.push([table, textOf(rows)]) }
  const sink = createSink('eth', store as unknown as Store, facts, { flushEveryMs: 0, flushRows: 1 }, 0)
  for (const [at, results] of batches.entries()) {
    stored = []
    for (const result of results) sink.add(result)
    await sink.flush()
    expect(stored).toEqual(expected[at])
    expect(sink.waitingRows).toBe(0)
  }
})

it('a batch may have twice its rows if the next one would write them again', async () => {
  const fold = startFold(marketMoney('eth'))
  const results = foldLines(fold, generateRecording({ seed: 4, chain: 'eth', blocks: 200 }))
  const flushRows = 300
  let largestBlock = 0
  let rowsAtOnce = 0
  let batch = new RowBatch('eth')
  for (const result of results) {
    const before = batch.rows
    batch.add(result)
    largestBlock = Math.max(largestBlock, batch.rows - before)
    if (batch.rows < flushRows) continue
    rowsAtOnce += batch.rows
    batch = new RowBatch('eth')
  }
  const sizes: number[] = []
  const store = { insertRows: async () => {} } as unknown as Store
  const settings = { flushEveryMs: Number.POSITIVE_INFINITY, flushRows }
  const sink = createSink('eth', store, rowFactsOf(fold.state), settings, 0, null, (rows) => sizes.push(rows))
  for (const result of results) {
    sink.add(result)
    await sink.flushWhenDue(0)
  }
  await sink.flush()
  const last = sizes.pop() ?? 0
  expect(sizes.length).toBeGreaterThan(2)
  expect(Math.min(...sizes)).toBeGreaterThan(flushRows)
  expect(Math.max(...sizes)).toBeLessThan(2 * flushRows + largestBlock)
  // The same blocks in larger batches: fewer states that the next batch replaces.
  expect(sizes.reduce((sum, rows) => sum + rows, last)).toBeLessThan(rowsAtOnce + batch.rows)
})

const textOf = (rows: Uint8Array) => Buffer.from(rows).toString('base64')

/** Large batches, and small ones after them. */
function split(results: readonly FoldResult[], seed: number): FoldResult[][] {
  const random = createRandom(seed)
  const batches: FoldResult[][] = []
  for (let at = 0; at < results.length; ) {
    const size = random.chance(0.3) ? random.int(10, 40) : random.int(1, 3)
    batches.push(results.slice(at, at + size))
    at += size
  }
  return batches
}
